import { resolve } from 'node:path';
import type { Command } from 'commander';
import { renderBytes } from '../../client/output.ts';
import { buildCommand, built, CACHE_FOLDER, PROJECT_ROOT, type BuildFlags } from './build-options.ts';

interface ImageFlags extends BuildFlags {
  name?: string;
  packages?: string;
}

/** `svc agent image --output FILE`: an archive for `docker load`, `ctr images import` and `skopeo copy oci-archive:…`. */
export function registerAgentImage(agent: Command): void {
  buildCommand(agent, 'image', "write the agent's container image as an archive; needs no engine")
    .option('--name <name:tag>', 'name of the image (default localhost/svc-agent:VERSION)')
    .option('--packages <folder>', "take Debian's packages from here instead of its archive")
    .action(async (flags: ImageFlags) => {
      const { buildImage } = await import('@svc/agent/build');
      const output = resolve(flags.output);
      const packagesFolder = flags.packages === undefined ? undefined : resolve(flags.packages);
      const { arch: architecture, name } = flags;
      const options = { root: PROJECT_ROOT, architecture, output, name, packagesFolder, cacheFolder: CACHE_FOLDER };
      const image = await built(() => buildImage(options));
      process.stdout.write(
        `${image.name} ${image.digest}\n${output} (${architecture}, ${renderBytes(image.sizeBytes)})\n`,
      );
    });
}
