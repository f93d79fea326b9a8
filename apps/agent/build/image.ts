import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TarEntry } from '@svc/archive';
import {
  accountEntries,
  debianLibraries,
  fetchNodeProgram,
  IMAGE_NODE_PATH,
  IMAGE_USER,
  nodeEntries,
  sbomFile,
  writeImage,
  writeSbom,
  type Architecture,
  type BuiltImage,
  type ImageConfig,
} from '@svc/packaging';
import { readAgentStamp } from './agent-stamp.ts';
import { bundleAgent, type AgentBundle } from './bundle.ts';
import { AGENT_NODE_FLAGS } from '../src/node-flags.ts';

export interface AgentImageOptions {
  /** Root folder of the project. */
  root: string;
  architecture: Architecture;
  /** Archive to write; never left incomplete. Its bill of materials is written beside it. */
  output: string;
  /** Image name in container engines; defaults to `localhost/svc-agent:VERSION`. */
  name?: string | undefined;
  cacheFolder: string;
  packagesFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

const PROGRAM_PATH = 'usr/lib/svc-agent/svc-agent.cjs';

/** Writes the agent's image. Layers are split by how often they change: libraries, Node, the agent. */
export async function buildImage(options: AgentImageOptions): Promise<BuiltImage> {
  const { root, architecture, output, cacheFolder, signal } = options;
  const stamp = await readAgentStamp(root);
  const bundle = await bundleAgent(root, stamp);
  const node = await fetchNodeProgram(options);
  const workFolder = await mkdtemp(join(tmpdir(), 'svc-agent-image-'));
  try {
    const libraries = await debianLibraries({ ...options, workFolder });
    const image = await writeImage({
      output,
      name: options.name ?? `localhost/svc-agent:${stamp.version}`,
      title: 'svc-agent',
      createdBy: 'svc agent image',
      architecture,
      stamp,
      config: CONFIG,
      layers: [
        { comment: 'libraries that Node needs', entries: [...libraries.entries, ...accountEntries('svc-agent')] },
        { comment: `Node ${node.version}`, entries: await nodeEntries(node) },
        { comment: `svc-agent ${stamp.version}`, entries: await agentFiles(root, bundle) },
      ],
      cacheFolder,
      signal,
    });
    const components = [...libraries.components, node.component, ...bundle.components];
    await writeSbom(sbomFile(output), { name: 'svc-agent', type: 'container', stamp, components });
    return image;
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

const CONFIG: ImageConfig = {
  User: `${IMAGE_USER}:${IMAGE_USER}`,
  // Few arenas, because each Node thread would keep freed memory in its own.
  Env: ['PATH=/usr/local/bin', 'MALLOC_ARENA_MAX=2'],
  Entrypoint: [`/${IMAGE_NODE_PATH}`, ...AGENT_NODE_FLAGS, `/${PROGRAM_PATH}`],
  Cmd: ['run'],
  WorkingDir: '/',
  ExposedPorts: { '8080/tcp': {}, '9091/tcp': {} },
};

async function agentFiles(root: string, bundle: AgentBundle): Promise<TarEntry[]> {
  const documents = 'usr/share/doc/svc-agent';
  return [
    { type: 'file', path: PROGRAM_PATH, content: bundle.code },
    { type: 'file', path: `${documents}/LICENSE`, content: await readFile(join(root, 'LICENSE')) },
    { type: 'file', path: `${documents}/THIRD-PARTY-NOTICES`, content: bundle.notices },
    { type: 'folder', path: 'config' },
    { type: 'folder', path: 'var/lib/svc-agent', mode: 0o700, owner: IMAGE_USER },
  ];
}
