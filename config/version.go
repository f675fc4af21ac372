package config

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// filled takes from the Go tool chain what the linker was not told.
func (b BuildInfo) filled() BuildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	vcs := map[string]string{}
	for _, s := range info.Settings {
		vcs[s.Key] = s.Value
	}
	b.Version = orElse(b.Version, orElse(info.Main.Version, "(devel)"))
	b.Commit = orElse(b.Commit, orElse(vcs["vcs.revision"], "unknown"))
	b.Date = orElse(b.Date, orElse(vcs["vcs.time"], "unknown"))
	return b
}

func (b BuildInfo) String() string {
	nvml := "no"
	if b.NVML {
		nvml = "yes"
	}
	return fmt.Sprintf("sonde %s (commit %s, date %s, nvml: %s)", b.Version, b.Commit, b.Date, nvml)
}

// addVersion lets every command take --version.
func addVersion(cc *cobra.Command, version string) {
	cc.Version = version
	cc.SetVersionTemplate("{{.Version}}\n")
	for _, sub := range cc.Commands() {
		addVersion(sub, version)
	}
}
