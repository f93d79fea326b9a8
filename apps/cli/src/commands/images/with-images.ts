import { openImages, type ImageUpkeep } from '@svc/platform';
import type { Command } from 'commander';
import { CommandFailure } from '../../client/command-failure.ts';
import { Output } from '../../client/output.ts';
import { createHelper, readConfiguration } from '../../configuration.ts';

export interface ImagesFlags {
  data?: string;
  config?: string;
  json?: boolean;
}

/** Adds the flags common to all `svc images` commands. */
export function imagesCommand(images: Command, name: string, description: string): Command {
  return images
    .command(name)
    .description(description)
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)')
    .option('--json', 'Print JSON');
}

/** Runs the work on the images of the data folder. Ctrl-C ends it; downloaded data is kept. */
export async function withImages(
  flags: ImagesFlags,
  work: (images: ImageUpkeep, output: Output, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (process.getuid?.() !== 0) throw new CommandFailure('managing images requires root', { hint: 'use sudo' });
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new CommandFailure('interrupted', { exitCode: 130 }));
  process.once('SIGINT', interrupt);
  const images = await openImages(
    readConfiguration(flags).value,
    createHelper((line) => process.stderr.write(`svc: ${line}\n`)),
  );
  try {
    const output = new Output({ json: flags.json === true, stdout: process.stdout, stderr: process.stderr });
    await work(images, output, stop.signal);
  } catch (error) {
    stop.signal.throwIfAborted(); // errors caused by the interruption are not the cause
    throw error;
  } finally {
    await images.close();
    process.off('SIGINT', interrupt);
  }
}
