import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { runCommand } from '../kubernetes/commands.ts';
import { PROJECT_ROOT, type ReadyLine } from '../system/running-platform.ts';

const START_TIMEOUT_MS = 60_000;
/** What a careful operator gives the container: no capability, no new privileges, a read-only root. */
const HARDENED = ['--read-only', '--tmpfs=/tmp', '--cap-drop=ALL', '--security-opt=no-new-privileges'];

/** Builds the platform's image for this machine's processor, as a user does. */
export async function buildOwnImage(output: string, name: string): Promise<void> {
  await runCommand(join(PROJECT_ROOT, 'svc'), ['package', 'image', '--output', output, '--name', name]);
}

/** A platform in a container of a Docker Engine, reached at its own address. */
export class PlatformContainer {
  readonly #socket: string;
  readonly #name: string;

  private constructor(socket: string, name: string) {
    this.#socket = socket;
    this.#name = name;
  }

  /** Starts a container whose data is in the volume of its name; resolves when its health check passes and its ready line is there. */
  static async start(socket: string, image: string, name: string): Promise<PlatformContainer> {
    const container = new PlatformContainer(socket, name);
    const data = ['--volume', `${name}:/var/lib/svc`, '--health-interval', '1s'];
    // A test machine's disk may be nearly full, so use a smaller reserve than the default.
    const settings = ['--env', 'SVC_DISK_RESERVE_MB=64'];
    await container.docker(
      'run',
      '--detach',
      '--name',
      name,
      ...HARDENED,
      ...data,
      ...settings,
      image,
      'platform',
      '--json',
    );
    const isUp = async (): Promise<boolean> =>
      (await container.#inspect('.State.Health.Status')) === 'healthy' &&
      (await container.docker('logs', name)).endsWith('\n');
    await waitFor(isUp, { timeoutMs: START_TIMEOUT_MS, description: 'a healthy container with its ready line' });
    return container;
  }

  async docker(...args: string[]): Promise<string> {
    return (await runCommand('docker', ['-H', `unix://${this.#socket}`, ...args])).stdout;
  }

  /** The ready line, with addresses that this machine reaches. */
  async ready(): Promise<ReadyLine> {
    const ready = JSON.parse(await this.docker('logs', this.#name)) as ReadyLine; // the documented line
    const host = await this.#inspect('.NetworkSettings.IPAddress');
    const reachable = (address: string): string => address.replace('127.0.0.1', host);
    return { ...ready, url: reachable(ready.url), s3_endpoint: reachable(ready.s3_endpoint) };
  }

  execute(...args: string[]): Promise<string> {
    return this.docker('exec', this.#name, ...args);
  }

  /** Stops it as `docker stop` does; resolves with its exit code. */
  async stop(): Promise<number> {
    await this.docker('stop', this.#name);
    return Number(await this.#inspect('.State.ExitCode'));
  }

  async remove(): Promise<void> {
    await this.docker('rm', '--force', this.#name);
  }

  async #inspect(field: string): Promise<string> {
    return (await this.docker('inspect', this.#name, '--format', `{{${field}}}`)).trim();
  }
}
