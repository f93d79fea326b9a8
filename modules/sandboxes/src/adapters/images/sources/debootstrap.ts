import { join } from 'node:path';
import { runTool } from '../run-tool.ts';

export interface DebianPackagesSpec {
  /** A code name, or `host` for the one that this machine runs. */
  readonly suite: string;
  readonly packages: readonly string[];
}

const TARGET_FORMAT = '$(REPO_URI)|$(RELEASE)|$(CODENAME)|$(COMPONENT)|$(ORIGIN)';
/** Manuals and translations make up most of a small system and are of no use in a sandbox. */
const LEFT_OUT = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*'];

/**
 * A minimal Debian made by mmdebstrap from the same package sources that this machine's own apt uses, so that mirrors,
 * proxies and air-gapped repositories work as the operator set them up.
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
      // What was needed to reach the packages from here is the machine's own business.
      '--customize-hook=rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/resolv.conf "$1"/etc/hostname',
      suite,
      archive,
      '-',
    ],
    { signal, input: `${lines.join('\n')}\n`, environment: { SOURCE_DATE_EPOCH: '0' } },
  );
  return archive;
}

/** Lines for sources.list from what `apt-get indextargets` printed, only Debian's own packages of the suite. */
export function sourceLines(listed: string, suite: string): string[] {
  const lines = new Set<string>();
  for (const line of listed.split('\n')) {
    const [uri = '', release = '', codename = '', component = '', origin = ''] = line.trim().split('|');
    const ofSuite = [release, codename].some((name) => name === suite || name.startsWith(`${suite}-`));
    if (uri !== '' && origin === 'Debian' && ofSuite) lines.add(`deb ${uri} ${release} ${component}`);
  }
  return [...lines];
}

/** How apt reaches the network here: proxies and certificate settings, as options in apt's own syntax. */
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
