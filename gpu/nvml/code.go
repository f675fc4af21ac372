// Package nvml reads this machine's GPUs through the driver's library, libnvidia-ml. Only
// builds for Linux on amd64 and arm64 can, without the tag "static": the others have its
// codes and texts.
package nvml

import "fmt"

// Code is a return code of NVML (nvmlReturn_t). The texts are ours: the driver's
// own are terse, and reading them is one more symbol that may be missing.
type Code int

const (
	CodeSuccess            Code = 0
	CodeUninitialized      Code = 1
	CodeNotSupported       Code = 3
	CodeNoPermission       Code = 4
	CodeDriverNotLoaded    Code = 9
	CodeLibraryNotFound    Code = 12
	CodeFunctionNotFound   Code = 13
	CodeGPUIsLost          Code = 15
	CodeResetRequired      Code = 16
	CodeOperatingSystem    Code = 17
	CodeVersionMismatch    Code = 18 // driver and library
	CodeStructVersionWrong Code = 25 // ARGUMENT_VERSION_MISMATCH
	CodeGPUNotFound        Code = 28
	CodeUnknown            Code = 999
)

var codeTexts = map[Code]string{
	CodeUninitialized:    "the NVIDIA library is not initialised",
	CodeNotSupported:     "not supported on this GPU",
	CodeNoPermission:     "the NVIDIA driver denies permission: run as a user who can open /dev/nvidiactl",
	CodeDriverNotLoaded:  "the NVIDIA driver is not loaded: load its kernel module, or give the container access to the GPU",
	CodeLibraryNotFound:  "no NVIDIA driver found",
	CodeFunctionNotFound: "the driver library is too old for this",
	CodeGPUIsLost:        "GPU lost (code 15): reset it or reboot",
	CodeResetRequired:    "GPU needs a reset (code 16)",
	CodeOperatingSystem:  "the operating system blocks the GPU: check the container's access to its devices",
	CodeVersionMismatch:  "driver and library versions differ: reload the driver or reboot",
	CodeGPUNotFound:      "driver present, no GPU visible",
	CodeUnknown:          "the NVIDIA driver reports an unknown error (code 999): the GPU may be lost, or the container lost its access",
}

// Error is a sentence for the GPU panel.
func (c Code) Error() string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return fmt.Sprintf("NVML error %d", int(c))
}

// lost reports that the device no longer answers.
func (c Code) lost() bool { return c == CodeGPUIsLost || c == CodeResetRequired }

// lasting answers stay the same until something is changed by hand: querying again
// each second would be useless.
func (c Code) lasting() bool {
	return c == CodeNotSupported || c == CodeNoPermission || c == CodeFunctionNotFound
}

// Known reports whether the code is an error with a text of its own.
func (c Code) Known() bool { _, ok := codeTexts[c]; return ok }
