// Package process tells what this process uses and what it may use.
package process
