import { join } from 'node:path';
import { runTool } from '../run-tool.ts';

export interface DebianPackagesSpec {
  /** A code name, or `host` for this machine's suite. */
  readonly suite: string;
  readonly packages: readonly string[];
}

const TARGET_FORMAT = '$(REPO_URI)|$(RELEASE)|$(CODENAME)|$(COMPONENT)|$(ORIGIN)';
/** Manuals and translations make up most of a small system and are useless in a sandbox. */
const LEFT_OUT = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*'];

/**
 * Builds a minimal Debian with mmdebstrap from the package sources of this machine's apt, so that mirrors, proxies and
 * air-gapped repositories work as the operator configured them.
 */
export async function buildFromDebianPackages(
  spec: DebianPackagesSpec,
  workFolder: string,
  signal: AbortSignal,
): Promise<string> {
  const listed = await runTool('apt-get', ['indextargets', '--format', TARGET_FORMAT, 'Created-By: Packages'], {
    signal,
  });
  const suite = spec.suite === 'host' ? await hostSuite(signal) : spec.suite;
  const lines = sourceLines(listed, suite);
  if (lines.length === 0) {
    throw new Error(`apt on this machine knows no Debian sources for ${suite}; configure them and run: apt-get update`);
  }
  const archive = join(workFolder, 'rootfs.tar');
  const network = networkOptions(await runTool('apt-config', ['dump', 'Acquire'], { signal }));
  await runTool(
    'mmdebstrap',
    [
      '--quiet',
      '--mode=root',
      '--variant=minbase',
      '--format=tar',
      ...(spec.packages.length === 0 ? [] : [`--include=${spec.packages.join(',')}`]),
      ...LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`),
      ...network.map((option) => `--aptopt=${option}`),
      // Remove the network settings that only this machine needs.
      '--customize-hook=rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/resolv.conf "$1"/etc/hostname',
      suite,
      archive,
      '-',
    ],
    { signal, input: `${lines.join('\n')}\n`, environment: { SOURCE_DATE_EPOCH: '0' } },
  );
  return archive;
}

/**
 * Builds lines for sources.list from the output of `apt-get indextargets`, only for Debian's own packages of the suite.
 */
export function sourceLines(listed: string, suite: string): string[] {
  const lines = new Set<string>();
  for (const line of listed.split('\n')) {
    const [uri = '', release = '', codename = '', component = '', origin = ''] = line.trim().split('|');
    const ofSuite = [release, codename].some((name) => name === suite || name.startsWith(`${suite}-`));
    if (uri !== '' && origin === 'Debian' && ofSuite) lines.add(`deb ${uri} ${release} ${component}`);
  }
  return [...lines];
}

/** apt's network settings on this machine, such as proxies and certificates, as options in apt's syntax. */
export function networkOptions(dumped: string): string[] {
  return dumped
    .split('\n')
    .filter((line) => /^Acquire::(https?|ftp)::(Proxy|CaInfo|Verify-Peer|Verify-Host|SslCert|SslKey)\b/i.test(line))
    .map((line) => line.trim().replace(/;$/, ''));
}

async function hostSuite(signal: AbortSignal): Promise<string> {
  const text = await runTool('cat', ['/etc/os-release'], { signal });
  const suite = /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(text)?.[1];
  if (suite === undefined) throw new Error('this machine does not say which suite it runs');
  return suite;
}
