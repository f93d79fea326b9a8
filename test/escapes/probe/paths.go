package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const groups = "/tmp/probe-groups"

var pathAttacks = map[string]attack{
	// write PATH...: opens any of them, for writing.
	"write": func(paths []string) error { return each(paths, syscall.O_WRONLY) },
	"read":  func(paths []string) error { return each(paths, syscall.O_RDONLY) },
	// content PATH TEXT: the file holds the text.
	"content": func(arguments []string) error {
		content, err := os.ReadFile(arguments[0])
		if err == nil && string(content) != arguments[1] {
			err = errors.New("another file")
		}
		return err
	},
	// write-below FOLDER...: anything in them.
	"write-below": func(folders []string) error {
		err := errors.New("nothing there can be written")
		for _, folder := range folders {
			_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, failure error) error {
				if failure == nil && entry.Type().IsRegular() && opens(path, syscall.O_WRONLY) == nil {
					err = nil
					return fs.SkipAll
				}
				return nil
			})
		}
		return err
	},
	// named-below FOLDER NAME...: a file of that name anywhere below, for writing. Control groups are shown first, so it
	// belongs into a mount namespace that nobody else has.
	"named-below": func(arguments []string) error {
		_ = os.MkdirAll(groups, 0o755)
		for _, kind := range []string{"cgroup", "cgroup2"} {
			if syscall.Mount(kind, groups, kind, 0, map[string]string{"cgroup": "memory"}[kind]) == nil {
				defer syscall.Unmount(groups, syscall.MNT_DETACH)
			}
		}
		err := errors.New("there is none")
		for _, folder := range []string{arguments[0], groups} {
			_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, failure error) error {
				for _, name := range arguments[1:] {
					if failure == nil && entry.Name() == name {
						if err = opens(path, syscall.O_WRONLY); err == nil {
							return fs.SkipAll
						}
					}
				}
				return nil
			})
			if err == nil {
				return nil
			}
		}
		return err
	},
	// overwrite PATH: by writing, by another file in its place, by taking it away.
	"overwrite": func(arguments []string) error {
		path := arguments[0]
		other := "/tmp/probe-other"
		if err := os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755); err != nil {
			return err
		}
		return anyOf(opens(path, syscall.O_WRONLY), os.Rename(other, path), os.Remove(path), syscall.Unlink(path))
	},
}

func each(paths []string, flags int) error {
	var attempts []error
	for _, path := range paths {
		attempts = append(attempts, opens(path, flags))
	}
	return anyOf(attempts...)
}
