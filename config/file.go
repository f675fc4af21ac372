package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	tomlparser "github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/pelletier/go-toml/v2"

	"sonde/probe/plain"
)

// settingsFile is a read file: its tables of settings, by the name of the profile. The
// file's own settings have the name "".
type settingsFile struct {
	path   string
	tables map[string]*koanf.Koanf
}

// defaultFile is where settings are looked for if no file is named.
func defaultFile() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the XDG rules ignore relative ones
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "sonde", "config.toml")
}

// readFile reads the named file, or the default one, which may be missing. Keys
// are checked against the table of settings, in every profile.
func readFile(named string) (settingsFile, error) {
	top := koanf.New(".")
	f := settingsFile{path: named, tables: map[string]*koanf.Koanf{"": top}}
	if f.path == "" {
		f.path = defaultFile()
		if _, err := os.Stat(f.path); f.path == "" || errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
	}
	text, err := settingsText(f.path)
	if err == nil {
		err = top.Load(rawbytes.Provider(text), tomlparser.Parser())
	}
	if err != nil {
		return f, explainFile(f.path, err)
	}
	profiles := top.Get("profile")
	top.Delete("profile")
	return f, f.addProfiles(profiles)
}

// largestFile is beyond any file of settings.
const largestFile = 1 << 20

// settingsText reads a file without the mark that editors may put before the text.
func settingsText(path string) ([]byte, error) {
	text, err := plain.ReadFile(path, largestFile)
	switch {
	case errors.Is(err, plain.ErrTooLarge):
		return nil, errors.New("too large for a file of settings")
	case err != nil:
		return nil, err
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")), bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("not UTF-8 text, but UTF-16 or no text at all: save it as UTF-8")
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), nil
}

// addProfiles takes the [profile.NAME] tables apart, and checks the keys of all tables.
func (f settingsFile) addProfiles(profiles any) error {
	byName, ok := profiles.(map[string]any)
	if !ok && profiles != nil {
		return fmt.Errorf("%s: profile: must be tables such as [profile.lab]", f.path)
	}
	for name, content := range byName {
		values, ok := content.(map[string]any)
		if !ok || name == "" {
			return fmt.Errorf("%s: profile.%s: must be a table such as [profile.lab]", f.path, name)
		}
		f.tables[name] = koanf.New(".")
		if err := f.tables[name].Load(confmap.Provider(values, ""), nil); err != nil {
			return err
		}
	}
	var known []string
	for _, s := range table(&Config{}) {
		if !s.noFile {
			known = append(known, s.key)
		}
	}
	for _, profile := range slices.Sorted(maps.Keys(f.tables)) {
		if err := f.checkKeys(profile, known); err != nil {
			return err
		}
	}
	return nil
}

// checkKeys refuses unknown keys of a profile.
func (f settingsFile) checkKeys(profile string, known []string) error {
	for _, key := range f.tables[profile].Keys() {
		if _, empty := f.tables[profile].Get(key).(map[string]any); !empty && !slices.Contains(known, key) {
			prefix := ""
			if profile != "" {
				prefix = "profile." + profile + "."
			}
			return fmt.Errorf("unknown key '%s' in %s%s", prefix+key, f.path, didYouMean(key, known))
		}
	}
	return nil
}

// layers are the file's own settings and those of the chosen profile.
func (f settingsFile) layers(profile string) (own, chosen layer, err error) {
	own = layer{rank: rankFile, values: f.tables[""]}
	chosen = layer{rank: rankProfile, values: koanf.New("."), where: profile}
	if profile == "" {
		return own, chosen, nil
	}
	values, found := f.tables[profile]
	if !found {
		has := "it has no profiles"
		if names := slices.Sorted(maps.Keys(f.tables))[1:]; len(names) > 0 {
			has = "it has " + strings.Join(names, ", ")
		}
		return own, chosen, fmt.Errorf("no [profile.%s] in %s: %s", profile, f.path, has)
	}
	chosen.values = values
	return own, chosen, nil
}

// exposure warns of a file with credentials that others can read; "" is fine.
func (f settingsFile) exposure() string {
	info, err := os.Stat(f.path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o044 == 0 {
		return ""
	}
	for _, values := range f.tables {
		if values.Exists("api-key") || values.Exists("header") {
			return fmt.Sprintf("%s contains credentials and other users can read it: chmod 600 %[1]s", f.path)
		}
	}
	return ""
}

// explainFile makes one line from what the file system or the parser says.
func explainFile(path string, err error) error {
	if cause := plain.Cause(err); cause != err {
		return fmt.Errorf("settings file %s: %w", path, cause)
	}
	place := path
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, column := syntax.Position()
		place = fmt.Sprintf("%s:%d:%d", path, line, column)
	}
	return fmt.Errorf("%s: %s", place, strings.TrimPrefix(err.Error(), "toml: "))
}
