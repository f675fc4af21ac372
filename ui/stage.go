package ui

import "sonde/probe"

// beforeLoad tells that the load which was asked for has yet to begin.
func (p *picture) beforeLoad() bool {
	return p.have && p.wish.Concurrency == 0 && p.frame.Load.Stage != probe.StageLoad
}

// stageWord is what is done before the load, for places of little room.
func stageWord(s probe.Stage) string {
	switch s {
	case probe.StageConnecting:
		return "connecting"
	case probe.StageLoading:
		return "model is loading"
	case probe.StageFitting:
		return "fitting prompt"
	}
	return "starting"
}

// stageText is stageWord as the reason why there are no figures.
func stageText(s probe.Stage) string {
	switch s {
	case probe.StageConnecting:
		return "connecting to the server"
	case probe.StageLoading:
		return "the server is loading its model: the load begins when it is ready"
	case probe.StageFitting:
		return "fitting the prompt length: then the load begins"
	}
	return "starting"
}
