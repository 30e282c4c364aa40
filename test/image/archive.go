package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
)

// An Image is what runs in a container: layers, the lowest first, and how to
// start it.
type Image struct {
	Name       string // with a tag
	Layers     []Layer
	Entrypoint []string
	Cmd        []string
	Env        []string
	User       string // empty is root
}

// configuration is the part of an image's configuration that is needed here,
// as the image specification has it.
type configuration struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Config       struct {
		User       string   `json:"User,omitempty"`
		Env        []string `json:"Env,omitempty"`
		Entrypoint []string `json:"Entrypoint,omitempty"`
		Cmd        []string `json:"Cmd,omitempty"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// config encodes the image's configuration.
func (i Image) config() ([]byte, error) {
	c := configuration{Architecture: runtime.GOARCH, OS: "linux"}
	c.Config.User, c.Config.Env, c.Config.Entrypoint, c.Config.Cmd = i.User, i.Env, i.Entrypoint, i.Cmd
	c.RootFS.Type = "layers"
	for _, l := range i.Layers {
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, "sha256:"+l.Digest)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration of image %q: %w", i.Name, err)
	}
	return data, nil
}

// ID names the content of the image: the digest of its configuration, which
// has the digests of its layers.
func (i Image) ID() (string, error) {
	data, err := i.config()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// WriteArchive writes the image as `docker save` does.
func (i Image) WriteArchive(out io.Writer) error {
	config, err := i.config()
	if err != nil {
		return err
	}
	id, err := i.ID()
	if err != nil {
		return err
	}
	type entry struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	manifest := []entry{{Config: id + ".json", RepoTags: []string{i.Name}}}
	w := tar.NewWriter(out)
	if err := addBytes(w, id+".json", config); err != nil {
		return fmt.Errorf("writing image %q: %w", i.Name, err)
	}
	for _, l := range i.Layers {
		name := l.Digest + "/layer.tar"
		manifest[0].Layers = append(manifest[0].Layers, name)
		info, err := os.Stat(l.File)
		if err != nil {
			return fmt.Errorf("writing image %q: %w", i.Name, err)
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: info.Size(), ModTime: epoch}
		if err := addFile(w, h, l.File); err != nil {
			return fmt.Errorf("writing layer %q of image %q: %w", l.File, i.Name, err)
		}
	}
	data, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("writing image %q: %w", i.Name, err)
	}
	if err := addBytes(w, "manifest.json", data); err != nil {
		return fmt.Errorf("writing image %q: %w", i.Name, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("writing image %q: %w", i.Name, err)
	}
	return nil
}

func addBytes(w *tar.Writer, name string, data []byte) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: epoch}); err != nil {
		return err
	}
	_, err := io.Copy(w, bytes.NewReader(data))
	return err
}
