import { resolve } from 'node:path';
import type { Command } from 'commander';
import { renderBytes } from '../client/output.ts';
import { createHelper } from '../configuration.ts';
import {
  buildCommand,
  built,
  CACHE_FOLDER,
  OWN_ARCHITECTURE,
  PROJECT_ROOT,
  type BuildFlags,
} from './agent/build-options.ts';

interface PackageFlags extends BuildFlags {
  output: string;
}

interface ImageFlags extends PackageFlags {
  name?: string;
  packages?: string;
}

/** `svc package image|deb`: builds what installs the platform, from a checkout. */
export function registerPackageCommand(program: Command): void {
  const command = program.command('package').description('Build the container image or Debian package of the platform');
  buildCommand(command, 'image', 'Build the container image of the platform as an archive; needs no container engine')
    .requiredOption('--output <file>', 'Output file; its bill of materials is written beside it')
    .option('--name <name:tag>', 'Image name (default localhost/svc:VERSION)')
    .option('--packages <folder>', 'Debian mirror to use instead of the default archive')
    .action(async ({ name, packages, ...flags }: ImageFlags) => {
      const packagesFolder = packages === undefined ? undefined : resolve(packages);
      const image = await built(async () => {
        const { buildPlatformImage } = await import('@svc/platform/build');
        return buildPlatformImage({ ...(await readSource(flags)), name, packagesFolder });
      });
      process.stdout.write(`${image.name} ${image.digest}\n`);
      reportFile(flags, image.sizeBytes);
    });
  buildCommand(command, 'deb', 'Build the Debian package of the platform')
    .requiredOption('--output <file>', 'Output file; its bill of materials is written beside it')
    .action(async (flags: PackageFlags) => {
      const { sizeBytes } = await built(async () => {
        const { buildPlatformPackage } = await import('@svc/platform/build');
        return buildPlatformPackage(await readSource(flags));
      });
      reportFile(flags, sizeBytes);
    });
}

/** What both builds need; builds the console and the programs of sandboxes if their sources changed. */
async function readSource({ arch: architecture = OWN_ARCHITECTURE, output }: PackageFlags) {
  const { ensureConsoleBuilt } = await import('@svc/console/build');
  const consoleFolder = await ensureConsoleBuilt({ root: PROJECT_ROOT, cacheDir: CACHE_FOLDER });
  const binaries = createHelper((line) => void process.stderr.write(`svc: ${line}\n`));
  const { file: helperFile } = await binaries(architecture);
  const { file: mountFile } = await binaries(architecture, undefined, 'bucket-mount');
  return {
    root: PROJECT_ROOT,
    architecture,
    consoleFolder,
    helperFile,
    mountFile,
    output: resolve(output),
    cacheFolder: CACHE_FOLDER,
  };
}

function reportFile({ arch = OWN_ARCHITECTURE, output }: PackageFlags, sizeBytes: number): void {
  process.stdout.write(`${output} (${arch}, ${renderBytes(sizeBytes)})\n`);
}
