// Package ui is the live screen: one Bubble Tea model that reads Frames and
// draws them, a panel per file.
//
// The screen measures nothing. Four times a second it pulls the Frames that are
// new, folds them into a history of columns, and redraws the panels whose data
// changed. Keys become wishes handed to frame.Controls, which return at once.
//
//	run.go, signals.go    start, end, the terminal
//	model.go              the router: key, tick, size → one method each
//	keys.go, actions.go   the key map and what the keys do
//	layout.go             which panel lies where at which size
//	panel.go              what a panel is, and its cached drawing
//	*_panel.go            one panel each
//	history.go, column.go what the charts remember
//	theme.go, glyphs.go   colours and characters
//	format.go, text.go    numbers and foreign text
package ui
