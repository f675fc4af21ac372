package config

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"
)

// manCommand prints the manual page, made from the same tree.
func manCommand(t *tree) *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Print the manual page",
		Hidden: true,
		RunE: func(cc *cobra.Command, _ []string) error {
			page, err := manPage(cc.Root(), t.build.Date)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(t.stdout, page)
			return failed(err)
		},
	}
}

var (
	manDate  = regexp.MustCompile(`(?m)^(\.TH .*")\d{4}-\d\d-\d\d(")`)
	manShort = regexp.MustCompile(`--([a-z]) --`)
)

// manPage renders the page, dated by the build so that builds can be repeated.
func manPage(root *cobra.Command, date string) (string, error) {
	page, err := mango.NewManPage(1, root)
	if err != nil {
		return "", err
	}
	page = page.WithLongDescription(strings.ReplaceAll(root.Long, "\n", " "))
	page.WithSection("Examples", root.Example)
	page.WithSection("Environment", manEnvironment)
	page.WithSection("Files", manFiles)
	page.WithSection("Exit status", manExit)
	text := page.Build(roff.NewDocument())
	if day, err := time.Parse(time.RFC3339, date); err == nil {
		text = manDate.ReplaceAllString(text, "${1}"+day.UTC().Format(time.DateOnly)+"${2}")
	}
	return manShort.ReplaceAllString(text, "-$1 --"), nil // mango writes short flags with two dashes
}

const (
	manEnvironment = "Every flag has an environment variable: SONDE_CONCURRENCY for --concurrency, SONDE_SIM_MODEL for --model of sonde sim. " +
		"OPENAI_API_KEY and OPENAI_BASE_URL stand in for --api-key and the URL. " +
		"Flags win over variables, variables over the file. NO_COLOR switches colours off."
	manFiles = "$XDG_CONFIG_HOME/sonde/config.toml or ~/.config/sonde/config.toml: settings, named as in --print-config. " +
		"[profile.NAME] tables hold named endpoints, chosen with --profile NAME or @NAME; " +
		"a profile wins over the file and the OPENAI_ variables."
	manExit = "0 done; 1 nothing succeeded, an SLO was missed, or a condition of compare --fail-if holds; 2 wrong usage; 130 interrupted; 143 terminated."
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
	b.Version = cmp.Or(b.Version, cmp.Or(info.Main.Version, "(devel)"))
	b.Commit = cmp.Or(b.Commit, cmp.Or(vcs["vcs.revision"], "unknown"))
	b.Date = cmp.Or(b.Date, cmp.Or(vcs["vcs.time"], "unknown"))
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
