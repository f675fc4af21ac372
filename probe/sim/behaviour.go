package sim

import "errors"

// behaviour is what clients see of the engine besides its machine, checked.
type behaviour struct {
	reasoning reasoning
	faults    Faults
	scenario  string
}

func (o *Options) behaviour() (behaviour, error) {
	b := behaviour{reasoning(o.Reasoning), o.Faults, o.Scenario}
	var unknown error
	if b.scenario != "" {
		_, unknown = sceneNamed(b.scenario)
	}
	return b, errors.Join(b.faults.check(), b.reasoning.check(), unknown)
}
