import { stat } from 'node:fs/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CommandFailure } from '../client/command-failure.ts';
import { renderBytes } from '../client/output.ts';
import { downloadFile, uploadFile } from '../sandbox-files/copy-file.ts';
import type { BodyProgress } from '../transfer/progress.ts';
import type { LocalFolder } from './local-folder.ts';
import { addTool, pathArgument, sandboxArgument, type ToolContext } from './tool.ts';

/** Tools for copying files of any size between this machine and a sandbox. */
export function addTransferTools(server: McpServer, { session: { find } }: ToolContext, folder: LocalFolder): void {
  const localPath = z.string().min(1).describe(`Path on this machine, inside ${folder.path}`);
  const input = z.object({ sandbox: sandboxArgument, local_path: localPath, path: pathArgument });
  addTool(server, {
    name: 'upload_file',
    title: 'Upload a file',
    description: 'Copy a file from this machine to a sandbox, keeping its permissions.',
    input,
    destructive: true,
    async run({ sandbox: name, local_path: given, path }, { signal, progress }) {
      const source = await folder.existing(given);
      const { size, isFile } = await stat(source).then((found) => ({ size: found.size, isFile: found.isFile() }));
      if (!isFile) throw new CommandFailure(`${given} is not a file`);
      const sandbox = await find(name);
      const sizeBytes = await uploadFile(sandbox.files, source, path, counter(size, progress), signal);
      return { path, size: sizeBytes };
    },
  });
  addTool(server, {
    name: 'download_file',
    title: 'Download a file',
    description: 'Copy a file from a sandbox to this machine, keeping its permissions. Replaces an existing file.',
    input,
    destructive: true,
    async run({ sandbox: name, local_path: given, path }, { signal, progress }) {
      const target = await folder.target(given);
      const sandbox = await find(name);
      const { size, mode_octal: mode, is_dir: isFolder } = await sandbox.files.stat(path, { signal });
      if (isFolder)
        throw new CommandFailure(`${path} is a folder`, { hint: 'pack it into one file with run_command and tar' });
      const bits = Number.parseInt(mode, 8);
      const sizeBytes = await downloadFile(sandbox.files, path, target, bits, counter(size, progress), signal);
      return { local_path: target, size: sizeBytes };
    },
  });
}

function counter(totalBytes: number, progress: (message: string) => void): BodyProgress {
  let movedBytes = 0;
  return {
    add(sizeBytes) {
      movedBytes += sizeBytes;
      progress(`${renderBytes(movedBytes)} of ${renderBytes(totalBytes)}`);
    },
    restart() {
      movedBytes = 0;
    },
  };
}
