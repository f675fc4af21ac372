package ui

import (
	"sonde/probe/frame"
)

// beforeLoad tells that the load which was asked for has yet to begin.
func (p *picture) beforeLoad() bool {
	return p.have && p.wish.Concurrency == 0 && p.frame.Load.Stage != frame.StageLoad
}

// stageWord is what is done before the load, for places of little room.
func stageWord(s frame.Stage) string {
	switch s {
	case frame.StageConnecting:
		return "connecting"
	case frame.StageLoading:
		return "model is loading"
	case frame.StageFitting:
		return "fitting prompt"
	}
	return "starting"
}

// stageText is stageWord as the reason why there are no figures.
func stageText(s frame.Stage) string {
	switch s {
	case frame.StageConnecting:
		return "connecting to the server"
	case frame.StageLoading:
		return "the server is loading its model: the load begins when it is ready"
	case frame.StageFitting:
		return "fitting the prompt length: then the load begins"
	}
	return "starting"
}
