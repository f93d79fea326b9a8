import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import type { BuildInfo } from '../src/build-info.ts';

export interface AgentBundle {
  /** One CommonJS script, ASCII only. */
  code: string;
  /** Licenses of the bundled packages. */
  notices: string;
}

/** Optional native parts of `ws`. */
const NOT_BUNDLED: readonly string[] = ['bufferutil', 'utf-8-validate'];
/** Our own files have no side effects on load (enforced by a law test), so unused code may be dropped. */
const OWN_SOURCES = /[\\/](packages|apps)[\\/][a-z]+[\\/]src[\\/]/;
const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

/**
 * Bundles the whole agent into one file: Node reads one file instead of some 400, and unused package code costs no
 * memory. CommonJS, because single executable applications of Node 24 require it.
 */
export async function bundleAgent(root: string, build: BuildInfo): Promise<AgentBundle> {
  const entry = join(root, 'apps', 'agent', 'src', 'main.ts');
  const bundle = await rolldown({
    input: entry,
    cwd: root,
    platform: 'node',
    external: [...NOT_BUNDLED],
    treeshake: { moduleSideEffects: (id) => id === entry || !OWN_SOURCES.test(id) },
    transform: { define: { SVC_AGENT_BUILD: JSON.stringify(build) } },
  });
  try {
    const { output } = await bundle.generate({ format: 'cjs', minify: true, codeSplitting: false });
    const [chunk, ...more] = output;
    if (more.length > 0) throw new Error('the bundle of the agent has more than one file');
    return { code: asciiOnly(chunk.code), notices: await readNotices(Object.keys(chunk.modules)) };
  } finally {
    await bundle.close();
  }
}

/** V8 stores a source with a single non-Latin-1 character as two bytes per character. */
function asciiOnly(code: string): string {
  return code.replaceAll(/[^\p{ASCII}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

async function readNotices(modules: readonly string[]): Promise<string> {
  const folders = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []);
  const texts = await Promise.all([...new Set(folders)].toSorted().map(readNotice));
  return texts.toSorted().join('\n');
}

async function readNotice(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  }; // npm's file
  const files = (await readdir(folder)).filter((name) => LICENCE_FILE.test(name)).toSorted();
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const heading = `=== ${manifest.name} ${manifest.version} (${manifest.license ?? 'see below'})`;
  return [heading, ...texts.map((text) => text.trim()), ''].join('\n');
}
