import type { FileEntry } from '@svc/sdk';
import type { PathQuestion } from './path-dialog.tsx';

export const NEW_FOLDER: PathQuestion = {
  title: 'New folder',
  description: 'Use slashes to create nested folders.',
  action: 'Create folder',
  label: 'Name',
  value: '',
  act: (files, path) => files.mkdir(path),
};

export const NEW_FILE: PathQuestion = {
  title: 'New file',
  description: 'Creates an empty file and opens it in the editor.',
  action: 'Create file',
  label: 'Name',
  value: '',
  act: async (files, path) => {
    // Appending nothing creates a missing file and leaves an existing one unchanged.
    await files.write(path, '', { append: true });
  },
};

/** Renames within the sandbox atomically. Never replaces an existing file. */
export function renameQuestion({ name, path: from }: FileEntry): PathQuestion {
  return {
    title: `Rename ${name}`,
    description: 'Enter a path to move it: absolute, or relative to this folder.',
    action: 'Rename',
    label: 'New name or path',
    value: name,
    act: (files, path) => files.move(from, path),
  };
}
