import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { npmPurl, type Component } from '@svc/packaging';
import { replaceFile } from '@svc/runtime';
import { rolldown } from 'rolldown';
import { readBuildInfo, type BuildInfo } from '../src/build-info.ts';

export interface AgentBundle {
  /** One CommonJS script, ASCII only. */
  code: string;
  /** Licenses of the bundled packages. */
  notices: string;
  /** The bundled packages. */
  components: readonly Component[];
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
    const packages = await readPackages(Object.keys(chunk.modules));
    return {
      code: asciiOnly(chunk.code),
      notices: packages.map(({ notice }) => notice).join('\n'),
      components: packages.map(({ component }) => component),
    };
  } finally {
    await bundle.close();
  }
}

/**
 * Bundles the agent of a checkout, with the build info of its working tree, into the cache folder. Returns the file.
 * Bundling takes less than a second, so every start does it, and no start runs an outdated bundle.
 */
export async function bundleCheckout(root: string, cacheFolder: string): Promise<string> {
  const { code } = await bundleAgent(root, readBuildInfo(join(root, 'apps', 'agent', 'src')));
  const file = join(cacheFolder, 'agent', 'svc-agent.cjs');
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, code, { mode: 0o644, draft: `${file}.${process.pid}`, durable: false });
  return file;
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

interface BundledPackage {
  notice: string;
  component: Component;
}

async function readPackages(modules: readonly string[]): Promise<BundledPackage[]> {
  const folders = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []);
  const packages = await Promise.all([...new Set(folders)].toSorted().map(readPackage));
  return packages.toSorted((left, right) => (left.notice < right.notice ? -1 : 1));
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  }; // npm's file
  const files = (await readdir(folder)).filter((file) => LICENCE_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const heading = `=== ${name} ${version} (${license ?? 'see below'})`;
  const component: Component = {
    type: 'library',
    name,
    version,
    purl: npmPurl(name, version),
    ...(license === undefined ? {} : { license }),
  };
  return { notice: [heading, ...texts.map((text) => text.trim()), ''].join('\n'), component };
}
