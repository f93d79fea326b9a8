import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildInfo } from '../src/build-info.ts';
import { runTool } from './run-tool.ts';

/** The package's version, the commit and its date. Excludes the build time, which would make two builds differ. */
export async function readBuildStamp(root: string): Promise<BuildInfo> {
  const text = await readFile(join(root, 'apps', 'agent', 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string }; // our own file
  try {
    const git = (...args: string[]): Promise<string> => runTool('git', ['-C', root, ...args]);
    const [commit = '', seconds = ''] = (await git('show', '-s', '--format=%H %ct', 'HEAD')).trim().split(' ');
    const changed = (await git('status', '--porcelain', '--', 'apps/agent', 'packages')).trim() !== '';
    const buildDate = new Date(Number(seconds) * 1000).toISOString();
    return { version, gitCommit: changed ? `${commit}-modified` : commit, buildDate };
  } catch {
    // Without git or the history, build anyway.
    return { version, gitCommit: 'unknown', buildDate: new Date(0).toISOString() };
  }
}
