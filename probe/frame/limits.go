package frame

import (
	"errors"

	"sonde/probe/roofline"
)

// FindLimits puts the model of a Frame on the GPUs that it shows. The error is the
// reason why there are none. shape is asked for the model's shape.
func (f *Frame) FindLimits(shape func(id string, info roofline.ModelInfo) (roofline.Model, error)) (roofline.Roofline, error) {
	id, info := &f.Engine.Identity, f.Target.ModelInfo
	if opaqueWeights[id.Kind] && info.WeightBytes == 0 {
		return roofline.Roofline{}, errors.New(id.Name + " does not report how the weights are quantised: name a model with --roofline MODEL@GPU")
	}
	m, err := shape(id.Model, info)
	if err != nil {
		return roofline.Roofline{}, err
	}
	var gpus []roofline.GPU
	if f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		for _, g := range f.GPU.Usable() {
			gpus = append(gpus, roofline.GPU{Name: g.Name, Bandwidth: g.BandwidthPeak})
		}
	}
	// An engine's own page shows only the GPUs of that engine.
	return roofline.On(m, info, gpus, f.GPU.From(id.GPUURL))
}

// opaqueWeights are engines that usually serve quantised files under the plain name
// of the model.
var opaqueWeights = map[string]bool{"llama.cpp": true, "ollama": true, "lmstudio": true, "mlc-llm": true}

// Judge judges work by the Limits. A recorded Frame has none: it is judged by what
// its names of model and GPUs show. Everything is unknown without limits.
func (f *Frame) Judge(w roofline.Work) roofline.Bounds {
	if f.Limits != nil {
		return f.Limits.Judge(w)
	}
	r, err := f.FindLimits(func(id string, info roofline.ModelInfo) (roofline.Model, error) {
		return roofline.Shape(id, info, false)
	})
	if err != nil {
		return roofline.Bounds{Why: err.Error()}
	}
	return r.Judge(w)
}
