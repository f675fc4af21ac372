package roofline

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sonde/probe/opt"
)

// Parse reads MODEL@GPU. MODEL is a name as of ModelNamed, or the path of a
// config.json or of its folder. GPU is a name as of PeaksFor, or words of one
// marketing name, with the number of GPUs that share the model before it: "4xH100".
// Errors list the known names.
func Parse(text string) (Roofline, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return Roofline{}, errors.New("must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100")
	}
	model, modelErr := FindModel(strings.TrimSpace(text[:at]))
	gpus, device, deviceErr := findDevice(strings.TrimSpace(text[at+1:]))
	switch {
	case modelErr != nil && deviceErr != nil:
		return Roofline{}, fmt.Errorf("%w; and %w", modelErr, deviceErr)
	case modelErr != nil:
		return Roofline{}, modelErr
	case deviceErr != nil:
		return Roofline{}, deviceErr
	}
	return Roofline{Model: model, Device: device, GPUs: gpus}, nil
}

// FindModel reads the MODEL of Parse.
func FindModel(text string) (Model, error) {
	if info, err := os.Stat(text); err == nil && info.IsDir() && text != "" {
		text = strings.TrimRight(text, "/") + "/config.json"
	}
	if strings.HasSuffix(text, ".json") {
		return readModel(text)
	}
	m, err := ModelNamed(text)
	if err != nil {
		return m, fmt.Errorf("%w: use the path of a config.json, or one of %s", err, strings.Join(ModelNames(), ", "))
	}
	return m, nil
}

var countedGPU = regexp.MustCompile(`^(\d{1,4})\s*[x×*]\s*(.+)$`)

func findDevice(text string) (gpus int, p Peaks, err error) {
	gpus = 1
	if m := countedGPU.FindStringSubmatch(text); m != nil {
		gpus, _ = strconv.Atoi(m[1]) // digits only: cannot fail
		text = m[2]
	}
	if gpus == 0 {
		return 0, p, errors.New("a model needs at least one GPU: use 1x or more")
	}
	if p, ok := PeaksFor(text); ok {
		return gpus, p, nil
	}
	switch found := peaksByWords(text); len(found) {
	case 0:
		return 0, p, fmt.Errorf("unknown GPU %q: use one of %s", text, strings.Join(deviceNames(peakTable()), ", "))
	case 1:
		return gpus, found[0].whole, nil
	default:
		return 0, p, fmt.Errorf("%q fits several GPUs: use one of %s", text, strings.Join(deviceNames(found), ", "))
	}
}

// peaksByWords finds the GPUs whose marketing name has every word, or one that
// begins with it: "a100 sxm 80gb" is "NVIDIA A100 SXM4 80GB".
func peaksByWords(text string) []peakRow {
	name, _ := normaliseName(text)
	words := strings.Fields(name)
	var found []peakRow
	for _, row := range peakTable() {
		marketed, _ := normaliseName(row.whole.Name)
		all := strings.Fields(marketed)
		missing := slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(all, func(have string) bool { return strings.HasPrefix(have, w) })
		})
		if !missing && len(words) > 0 {
			found = append(found, row)
		}
	}
	return found
}

func deviceNames(rows []peakRow) []string {
	var names []string
	for _, r := range rows {
		names = append(names, strings.TrimPrefix(r.whole.Name, "NVIDIA "))
	}
	return names
}

// GPU is one device of a server, as its driver or exporter names it.
type GPU struct {
	Name      string
	Bandwidth opt.Float // memory bandwidth peak that the source reports, bytes/s
}

// On puts a model on the GPUs of its server. Several GPUs count as one group only
// where that is known, from the engine or because oneModel says that they all serve
// this model: whether they share a model or have one each cannot be seen.
func On(m Model, info ModelInfo, gpus []GPU, oneModel bool) (Roofline, error) {
	n := len(gpus)
	switch shared := info.GPUs; {
	case n == 0:
		return Roofline{}, errors.New("no GPU of the server is visible: name it with --roofline MODEL@GPU")
	case shared > n:
		return Roofline{}, fmt.Errorf("the model uses %d GPUs, of which %d are visible: name them with --roofline MODEL@%dxGPU", shared, n, shared)
	case shared > 0:
		n = shared
	case n > 1 && !oneModel:
		return Roofline{}, fmt.Errorf("%d GPUs are visible, but not how many of them share the model: name them with --roofline MODEL@%dxGPU", n, n)
	}
	p, ok := gpus[0].Peaks()
	if !ok {
		return Roofline{}, fmt.Errorf("the peaks of the GPU %q are unknown: name a GPU with --roofline MODEL@GPU", gpus[0].Name)
	}
	for _, g := range gpus[1:] {
		if g.Name != gpus[0].Name {
			return Roofline{}, errors.New("the GPUs differ: name one with --roofline MODEL@GPU")
		}
	}
	return Roofline{Model: m, Device: p, GPUs: n}, nil
}
