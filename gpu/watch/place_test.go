package watch

import (
	"testing"
	"testing/synctest"
	"time"
)

// Where GPUs are: the exporter's word for its host, the pod that a GPU is given to and
// not the exporter's own, each part of a GPU by itself.
func TestWhereGPUsAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watched(t, func() []string {
			return []string{
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=10.0.0.9:9400,UUID=GPU-1,gpu=0,Hostname=node-1,pod=dcgm-7,exported_pod=vllm-0", "100"),
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=10.0.0.9:9400,UUID=GPU-2,gpu=1,Hostname=node-1,pod=vllm-1", "100"),
				dcgmSeries("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "instance=b:9400,UUID=GPU-3,gpu=0,GPU_I_ID=1,GPU_I_PROFILE=1g.10gb,pod=vllm-2", "0.5"),
				dcgmSeries("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "instance=b:9400,UUID=GPU-3,gpu=0,GPU_I_ID=2,GPU_I_PROFILE=1g.10gb,pod=vllm-3", "0.5"),
				dcgmSeries("nvidia_smi_utilization_gpu_ratio", "instance=c:9835,uuid=4,node=node-c", "0.9"),
				dcgmSeries("amd_gpu_gfx_activity", "instance=d:5000,gpu_id=0,serial_number=s5,hostname=node-d", "70"),
				exporterScraped("10.0.0.9:9400", time.Now()), exporterScraped("b:9400", time.Now()),
				exporterScraped("c:9835", time.Now()), exporterScraped("d:5000", time.Now()),
			}
		})
		synctest.Wait()
		want := map[string][3]string{
			"GPU-1": {"node-1", "10.0.0.9:9400", "vllm-0"}, "GPU-2": {"node-1", "10.0.0.9:9400", "vllm-1"},
			"GPU-3": {"b:9400", "b:9400", ""}, "GPU-3/1": {"b:9400", "b:9400", "vllm-2"}, "GPU-3/2": {"b:9400", "b:9400", "vllm-3"},
			"GPU-4": {"c:9835", "c:9835", ""}, "s5": {"node-d", "d:5000", ""},
		}
		gpus := s.Latest().GPUs
		if len(gpus) != len(want) {
			t.Errorf("%d GPUs, want %d", len(gpus), len(want))
		}
		for _, g := range gpus {
			if got := [3]string{g.Host, g.Exporter, g.Pod}; got != want[g.ID] {
				t.Errorf("%s: host, exporter and pod are %q, want %q", g.ID, got, want[g.ID])
			}
		}
	})
}
