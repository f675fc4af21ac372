package sim

import "errors"

// Behaviour is what clients see of the engine besides its machine.
type Behaviour struct {
	Reasoning float64 // of the answers to a chat: a share below 1, a number of tokens from 1 on
	Faults    Faults  // what goes wrong on request
	Scenario  string  // one of Scenarios(), which plays from the start; "" for none
}

// behaviour is a checked Behaviour.
type behaviour struct {
	reasoning reasoning
	faults    Faults
	scenario  string
}

func (b Behaviour) resolve() (behaviour, error) {
	r := behaviour{reasoning(b.Reasoning), b.Faults, b.Scenario}
	var unknown error
	if b.Scenario != "" {
		_, unknown = sceneNamed(b.Scenario)
	}
	return r, errors.Join(r.faults.check(), r.reasoning.check(), unknown)
}
