package gpu

import (
	"cmp"
	"strings"

	"sonde/probe/prom"
)

// place is where a GPU is, as the labels of a Prometheus server's series tell.
type place struct{ host, exporter, pod string }

// hostLabels name a GPU's machine, the exporter's own word first.
var hostLabels = []string{"Hostname", "hostname", "node", "kubernetes_node", "nodename", "instance"}

// places finds out where the GPUs of some series are, by every ID that a reading of
// them may have.
func places(samples []prom.Sample) map[string]place {
	out := map[string]place{}
	for _, s := range samples {
		here := place{label(s, hostLabels...), label(s, "instance"), label(s, "pod")}
		for _, id := range idsOf(s) {
			known := out[id]
			out[id] = place{cmp.Or(known.host, here.host), cmp.Or(known.exporter, here.exporter), cmp.Or(known.pod, here.pod)}
		}
	}
	return out
}

// idsOf lists the IDs that exporters of all kinds may mean by a series' labels.
func idsOf(s prom.Sample) []string {
	var ids []string
	uuid, host := label(s, "UUID", "uuid", "gpu_uuid"), label(s, "Hostname", "hostname")
	if uuid != "" {
		ids = append(ids, uuid, fullUUID(uuid))
	}
	for _, index := range []string{label(s, "gpu"), label(s, "gpu_id")} {
		if index != "" {
			ids = append(ids, host+"/"+index)
		}
	}
	if serial := label(s, "serial_number"); serial != "" {
		ids = append(ids, serial)
	}
	if part := label(s, "GPU_I_ID", "gpu_instance_id", "gpu_partition_id"); part != "" {
		for i, id := range ids {
			ids[i] = id + "/" + part // its pod need not be the other parts'
		}
	}
	return ids
}

// put notes where readings are from. Of a part that tells nothing its GPU does.
func put(gpus []Reading, at map[string]place) {
	for i := range gpus {
		g := &gpus[i]
		p, known := at[g.ID]
		if !known {
			p = at[g.Parent]
		}
		if !known && g.Parent == "" { // whole GPU whose series all name a part
			for id, of := range at {
				if strings.HasPrefix(id, g.ID+"/") {
					p = place{host: of.host, exporter: of.exporter}
				}
			}
		}
		g.Host, g.Exporter, g.Pod = p.host, p.exporter, p.pod
	}
}
