package gpu

import (
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ParseRoofline reads MODEL@GPU. MODEL is a name as of ModelNamed, or the path of
// a config.json or of its folder. GPU is a name as of PeaksFor, or words of one
// marketing name, with the number of GPUs that share the model before it: "4xH100".
// Errors say what is known.
func ParseRoofline(text string) (Roofline, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return Roofline{}, errors.New("must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100")
	}
	model, modelErr := FindModel(strings.TrimSpace(text[:at]))
	gpus, device, deviceErr := deviceAsked(strings.TrimSpace(text[at+1:]))
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

// FindModel reads the MODEL of ParseRoofline.
func FindModel(text string) (Model, error) {
	if info, err := os.Stat(text); err == nil && info.IsDir() && text != "" {
		text = strings.TrimRight(text, "/") + "/config.json"
	}
	if strings.HasSuffix(text, ".json") {
		return readModel(text)
	}
	m, err := ModelNamed(text)
	if err != nil {
		return m, fmt.Errorf("%w: take the path of a config.json, or one of %s", err, strings.Join(ModelNames(), ", "))
	}
	return m, nil
}

var countedGPU = regexp.MustCompile(`^(\d{1,4})\s*[x×*]\s*(.+)$`)

func deviceAsked(text string) (gpus int, p Peaks, err error) {
	gpus = 1
	if m := countedGPU.FindStringSubmatch(text); m != nil {
		gpus, _ = strconv.Atoi(m[1]) // digits only: cannot fail
		text = m[2]
	}
	if gpus == 0 {
		return 0, p, errors.New("no GPUs hold no model: take 1x or more")
	}
	if p, ok := PeaksFor(text); ok {
		return gpus, p, nil
	}
	switch found := peaksByWords(text); len(found) {
	case 0:
		return 0, p, fmt.Errorf("no GPU %q is known: take one of %s", text, strings.Join(deviceNames(peakTable()), ", "))
	case 1:
		return gpus, found[0].wholePart, nil
	default:
		return 0, p, fmt.Errorf("several GPUs are called %q: take one of %s", text, strings.Join(deviceNames(found), ", "))
	}
}

// peaksByWords finds the GPUs whose marketing name has every word, or one that
// begins with it: "a100 sxm 80gb" is "NVIDIA A100 SXM4 80GB".
func peaksByWords(text string) []peakRow {
	name, _ := normaliseName(text)
	words := strings.Fields(name)
	var found []peakRow
	for _, row := range peakTable() {
		marketed, _ := normaliseName(row.wholePart.Name)
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
		names = append(names, strings.TrimPrefix(r.wholePart.Name, "NVIDIA "))
	}
	return names
}

// FindRoofline makes a Roofline of what is seen. Several GPUs are taken for one group
// only if that is known: whether they share a model or have one each cannot be seen.
func FindRoofline(s Seen) (Roofline, error) {
	m, err := s.model()
	if err != nil {
		return Roofline{}, err
	}
	gpus := wholes(s.GPUs)
	n := len(gpus)
	switch told := s.Told.GPUs; {
	case n == 0:
		return Roofline{}, errors.New("no GPU of the server can be seen: name it with --roofline MODEL@GPU")
	case told > n:
		return Roofline{}, fmt.Errorf("the model is on %d GPUs, of which %d can be seen: name them with --roofline MODEL@%dxGPU", told, n, told)
	case told > 0:
		n = told
	case n > 1 && !s.Together:
		return Roofline{}, fmt.Errorf("%d GPUs are seen, and how many share the model is not known: say it with --roofline MODEL@%dxGPU", n, n)
	}
	p, ok := gpus[0].Peaks()
	if !ok {
		return Roofline{}, fmt.Errorf("no peaks are known for the GPU %q: name a GPU with --roofline MODEL@GPU", gpus[0].Name)
	}
	for _, g := range gpus[1:] {
		if g.Name != gpus[0].Name {
			return Roofline{}, errors.New("the GPUs are not alike: name one with --roofline MODEL@GPU")
		}
	}
	return Roofline{Model: s.Told.cache(m), Device: p, GPUs: n}, nil
}

// wholes leaves out lost GPUs, and those whose MIG instances are listed instead.
func wholes(seen []Reading) []Reading {
	split := map[string]bool{}
	for _, r := range seen {
		split[r.Parent] = true
	}
	return slices.DeleteFunc(slices.Clone(seen), func(r Reading) bool {
		return r.Lost || r.ID != "" && split[r.ID]
	})
}

// Of tells whether the readings are from that page, whatever query its address has.
func (s Status) Of(page string) bool {
	u, err := pageURL(page)
	if page == "" || err != nil {
		return false
	}
	_, read, _ := strings.Cut(s.Source, " ")
	return read == shownURL(u)
}

// Serve tells whether the GPUs that were read are those of the target. The local
// ones (NVML, nvidia-smi) say nothing about a server elsewhere, or about the embedded engine,
// which computes on none; an exporter was named for the target.
func (s Status) Serve(host string, embedded bool) bool {
	if !strings.HasPrefix(s.Source, "nvml") && s.Source != "nvidia-smi" {
		return true
	}
	if embedded {
		return false
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
