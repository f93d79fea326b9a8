import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { startPlatform, type PlatformOptions, type RunningPlatform } from '../system/running-platform.ts';
import { CommandLine } from './command-line.ts';

/** A separate platform and the CLI with its address and token, an empty home folder and no user settings. */
export interface CommandStore extends AsyncDisposable {
  readonly platform: RunningPlatform;
  readonly svc: CommandLine;
  /** Working directory of the command. */
  readonly folder: string;
  readonly home: string;
}

export async function startCommandStore(options: Omit<PlatformOptions, 'dataFolder'> = {}): Promise<CommandStore> {
  const root = await temporaryFolder('svc-command-');
  try {
    const platform = await startPlatform({ ...options, dataFolder: join(root.path, 'data') });
    const [folder, home] = [join(root.path, 'work'), join(root.path, 'home')];
    await mkdir(folder);
    await mkdir(home);
    const environment = { HOME: home, SVC_URL: platform.ready.url, SVC_TOKEN: platform.ready.token };
    const dispose = async (): Promise<void> => {
      await platform.stop();
      await root.remove();
    };
    return { platform, svc: new CommandLine(environment, folder), folder, home, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await root.remove();
    throw error;
  }
}
