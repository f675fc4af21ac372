package config

import (
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
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/pelletier/go-toml/v2"
)

// settingsFile is a read file: its own settings and those of each profile.
type settingsFile struct {
	path     string
	top      *koanf.Koanf
	profiles map[string]*koanf.Koanf
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
// are checked against the table.
func readFile(named string) (settingsFile, error) {
	f := settingsFile{path: named, top: koanf.New("."), profiles: map[string]*koanf.Koanf{}}
	if f.path == "" {
		f.path = defaultFile()
		if _, err := os.Stat(f.path); f.path == "" || errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
	}
	if err := f.top.Load(file.Provider(f.path), tomlparser.Parser()); err != nil {
		return f, explainFile(f.path, err)
	}
	profiles := f.top.Raw()["profile"]
	f.top.Delete("profile")
	if err := f.readProfiles(profiles); err != nil {
		return f, err
	}
	return f, f.checkKeys()
}

// readProfiles takes the [profile.NAME] tables apart.
func (f settingsFile) readProfiles(raw any) error {
	byName, ok := raw.(map[string]any)
	if raw != nil && !ok {
		return fmt.Errorf("%s: profile: must be tables such as [profile.lab]", f.path)
	}
	for name, content := range byName {
		values, ok := content.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: profile.%s: must be a table such as [profile.lab]", f.path, name)
		}
		f.profiles[name] = koanf.New(".")
		if err := f.profiles[name].Load(confmap.Provider(values, ""), nil); err != nil {
			return err
		}
	}
	return nil
}

// checkKeys refuses keys that are not in the table, in every profile.
func (f settingsFile) checkKeys() error {
	var known []string
	for _, s := range table(&Config{}) {
		if !s.noFile {
			known = append(known, s.key)
		}
	}
	check := func(prefix string, values *koanf.Koanf) error {
		for _, key := range values.Keys() {
			if _, empty := values.Get(key).(map[string]any); empty {
				continue // a table without keys
			}
			if !slices.Contains(known, key) {
				return fmt.Errorf("unknown key '%s' in %s%s", prefix+key, f.path, didYouMean(key, known))
			}
		}
		return nil
	}
	if err := check("", f.top); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.profiles)) {
		if err := check("profile."+name+".", f.profiles[name]); err != nil {
			return err
		}
	}
	return nil
}

// layers are the file's own settings and those of the chosen profile.
func (f settingsFile) layers(profile string) ([]layer, error) {
	top := layer{rank: rankFile, values: f.top}
	if profile == "" {
		return []layer{top}, nil
	}
	values, found := f.profiles[profile]
	if !found {
		names := slices.Sorted(maps.Keys(f.profiles))
		has := "it has no profiles"
		if len(names) > 0 {
			has = "it has " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("no [profile.%s] in %s: %s", profile, f.path, has)
	}
	return []layer{top, {rank: rankProfile, values: values, where: profile}}, nil
}

// exposure warns of a file with credentials that others can read; "" is fine.
func (f settingsFile) exposure() string {
	info, err := os.Stat(f.path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o044 == 0 {
		return ""
	}
	for _, values := range append(slices.Collect(maps.Values(f.profiles)), f.top) {
		if values.Exists("api-key") || values.Exists("header") {
			return fmt.Sprintf("%s contains credentials and other users can read it: chmod 600 %[1]s", f.path)
		}
	}
	return ""
}

// explainFile makes one line from what the file system or the parser says.
func explainFile(path string, err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		return fmt.Errorf("settings file %s: %w", path, system.Err)
	}
	place := path
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, column := syntax.Position()
		place = fmt.Sprintf("%s:%d:%d", path, line, column)
	}
	return fmt.Errorf("%s: %s", place, strings.TrimPrefix(err.Error(), "toml: "))
}
