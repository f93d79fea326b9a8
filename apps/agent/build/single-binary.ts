import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchNodeProgram, runTool, type Architecture } from '@svc/packaging';
import { readAgentStamp } from './agent-stamp.ts';
import { bundleAgent } from './bundle.ts';
import { addElfNote } from './elf-note.ts';
import { AGENT_NODE_FLAGS } from '../src/node-flags.ts';

export interface BinaryOptions {
  /** Root folder of the project. */
  root: string;
  architecture: Architecture;
  /** File to write; never left incomplete. */
  output: string;
  cacheFolder: string;
  signal?: AbortSignal | undefined;
}

const BLOB_NOTE = 'NODE_SEA_BLOB';
/** Node looks for its blob only if the last character is a 1. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:0';

/** Writes the agent as one program that needs only the machine's C and C++ libraries. Returns its size. */
export async function buildBinary(options: BinaryOptions): Promise<{ sizeBytes: number }> {
  const { root, output, signal } = options;
  const bundle = await bundleAgent(root, await readAgentStamp(root));
  const node = await fetchNodeProgram(options);
  const blob = await makeBlob(bundle.code, bundle.notices, signal);
  const program = addElfNote(await readFile(join(node.folder, 'bin', 'node')), BLOB_NOTE, blob);
  const fuse = program.indexOf(FUSE);
  if (fuse === -1 || program.includes(FUSE, fuse + 1)) throw new Error('this Node cannot hold an application');
  program.write('1', fuse + FUSE.length - 1);
  await writeFile(`${output}.part`, program);
  await chmod(`${output}.part`, 0o755);
  await rename(`${output}.part`, output);
  return { sizeBytes: program.length };
}

/** Without snapshot and code cache, which are processor-specific: one blob serves all architectures. */
async function makeBlob(code: string, notices: string, signal: AbortSignal | undefined): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-agent-binary-'));
  try {
    const configuration = {
      // Relative to the folder: an absolute path would end up in the blob and differ on each build.
      main: 'svc-agent.js',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      execArgv: AGENT_NODE_FLAGS,
      assets: { 'THIRD-PARTY-NOTICES': 'notices' },
    };
    await writeFile(join(folder, 'svc-agent.js'), code);
    await writeFile(join(folder, 'notices'), notices);
    await writeFile(join(folder, 'configuration.json'), JSON.stringify(configuration));
    await runTool(process.execPath, ['--experimental-sea-config', 'configuration.json'], { cwd: folder, signal });
    return await readFile(join(folder, 'blob'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
