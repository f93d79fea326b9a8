import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

/** The identity of a build: what `svc-agent version` and image labels show. */
export interface BuildStamp {
  version: string;
  gitCommit: string;
  /** ISO 8601. */
  buildDate: string;
}

/** What `readBuildStamp` describes. */
export interface BuildStampOptions {
  /** Root folder of the project. */
  root: string;
  /** The `package.json` with the version, relative to the root. */
  manifest: string;
  /** Folders of the deliverable; uncommitted changes in them mark the commit as modified. */
  sources: readonly string[];
}

/** The package's version, the commit and its date. Excludes the build time, which would make two builds differ. */
export async function readBuildStamp({ root, manifest, sources }: BuildStampOptions): Promise<BuildStamp> {
  const text = await readFile(join(root, manifest), 'utf8');
  const { version } = JSON.parse(text) as { version: string }; // our own file
  try {
    const git = (...args: string[]): Promise<string> => runTool('git', ['-C', root, ...args]);
    const [commit = '', seconds = ''] = (await git('show', '-s', '--format=%H %ct', 'HEAD')).trim().split(' ');
    const changed = (await git('status', '--porcelain', '--', ...sources)).trim() !== '';
    const buildDate = new Date(Number(seconds) * 1000).toISOString();
    return { version, gitCommit: changed ? `${commit}-modified` : commit, buildDate };
  } catch {
    // Without git or the history, build anyway.
    return { version, gitCommit: 'unknown', buildDate: new Date(0).toISOString() };
  }
}
