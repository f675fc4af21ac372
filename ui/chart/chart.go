// Package chart draws time series as text. It is the one adapter in front of
// the drawing library: whatever it is given (NaN, infinities, outliers, a size of
// 1×1) it draws something sensible and returns exactly h lines of w cells.
//
// Time runs to the right and the newest column is the last. One cell column is
// one slice of time; callers decide its length. Braille charts have two dot
// columns in a cell column. Data longer than the plot is cut on the left, shorter
// data is right-aligned.
//
// Every picture is first laid out on a grid of cells (grid.go) and written from
// there with one style run for neighbours of equal style, so that a chart costs
// few bytes on the wire.
package chart
