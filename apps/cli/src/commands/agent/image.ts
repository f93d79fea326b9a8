import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import { renderBytes } from '../../client/output.ts';
import { buildCommand, built, CACHE_FOLDER, OWN_ARCHITECTURE, PROJECT_ROOT, type BuildFlags } from './build-options.ts';

interface ImageFlags extends BuildFlags {
  output?: string;
  data?: string;
  name?: string;
  packages?: string;
}

interface Target {
  architecture: 'x64' | 'arm64';
  output: string;
}

/**
 * `svc agent image`: builds an archive for `docker load`, `ctr images import` and `skopeo copy oci-archive:…`. With
 * `--data`, writes it for every processor to where the platform of that folder serves it.
 */
export function registerAgentImage(agent: Command): void {
  buildCommand(agent, 'image', 'Build the container image of the agent as an archive; needs no container engine')
    .addOption(new Option('--output <file>', 'Output file').conflicts('data'))
    .option('--data <folder>', 'Data folder of a platform that should serve the image')
    .option('--name <name:tag>', 'Image name (default localhost/svc-agent:VERSION)')
    .option('--packages <folder>', 'Debian mirror to use instead of the default archive')
    .action(async (flags: ImageFlags) => {
      const { buildImage } = await import('@svc/agent/build');
      const packagesFolder = flags.packages === undefined ? undefined : resolve(flags.packages);
      const shared = { root: PROJECT_ROOT, name: flags.name, packagesFolder, cacheFolder: CACHE_FOLDER };
      for (const target of await findTargets(flags)) {
        const image = await built(() => buildImage({ ...shared, ...target }));
        const size = renderBytes(image.sizeBytes);
        process.stdout.write(`${image.name} ${image.digest}\n${target.output} (${target.architecture}, ${size})\n`);
      }
    });
}

async function findTargets({ arch, output, data }: ImageFlags): Promise<Target[]> {
  if (output !== undefined) return [{ architecture: arch ?? OWN_ARCHITECTURE, output: resolve(output) }];
  if (data === undefined) throw usageFailure('--output FILE or --data FOLDER is required');
  const [{ dataFolderPaths }, { ARCHITECTURES, archiveNameOf }] = await Promise.all([
    import('@svc/platform'),
    import('@svc/agent/build'),
  ]);
  const { agentImagesFolder } = dataFolderPaths(data);
  await mkdir(agentImagesFolder, { recursive: true });
  const architectures = arch === undefined ? ARCHITECTURES : [arch];
  return architectures.map((each) => ({ architecture: each, output: join(agentImagesFolder, archiveNameOf(each)) }));
}
