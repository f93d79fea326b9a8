import { posix } from 'node:path';
import type { Clock } from '@svc/runtime';
import { isAppError } from '@svc/errors';
import type { BuildDriver, NetworkMode } from '../driver.ts';
import type { CommandService } from '../exec/command-service.ts';
import type { FileService, SandboxFiles } from '../files/file-service.ts';
import type { Isolation } from '../driver.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { BuildLog } from './build-log.ts';
import type { BuildFailure, TemplateBuild } from './template.ts';

/** Marks the sandboxes of a build, so that none outlives it. */
const BUILD_LABEL = 'svc-template-build';
const START_WAIT_MS = 110_000;
/** A sandbox that could not be removed with its build expires some time after it. */
const EXPIRY_SLACK_SECONDS = 600;

/** A step or a build that failed; the message is for the owner of the build. */
export class BuildFault extends Error {
  readonly unknownUser: BuildFailure['unknownUser'];

  constructor(message: string, options: { cause?: unknown; unknownUser?: BuildFailure['unknownUser'] } = {}) {
    super(message, options);
    this.unknownUser = options.unknownUser ?? null;
  }
}

export interface BuildSandboxDeps {
  readonly service: SandboxService;
  readonly files: FileService;
  readonly commands: CommandService;
  readonly builds: BuildDriver;
  readonly clock: Clock;
  readonly network: NetworkMode;
  readonly isolation: () => Isolation;
  /** Maximum time of a build. */
  readonly limitMs: number;
}

export interface BuildCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  readonly user: string | null;
  readonly timeoutMs: number;
}

/** The sandbox that one stage of a build runs in. After each change of files it continues from the image made of them. */
export class BuildSandbox {
  readonly #deps: BuildSandboxDeps;
  readonly #build: TemplateBuild;
  readonly #log: BuildLog;
  readonly #signal: AbortSignal;
  #sandbox: Sandbox | null = null;
  #digest: string | null = null;

  constructor(deps: BuildSandboxDeps, build: TemplateBuild, log: BuildLog, signal: AbortSignal) {
    this.#deps = deps;
    this.#build = build;
    this.#log = log;
    this.#signal = signal;
  }

  /** Runs on this image from now on. `building` allows `commit`. */
  async continueFrom(digest: string, label: string, building = true): Promise<void> {
    if (this.#sandbox !== null && this.#digest !== digest) await this.dispose();
    const { service } = this.#deps;
    const { workspaceUuid } = this.#build;
    const sandbox =
      this.#sandbox === null
        ? await this.#create(digest, label, building)
        : await service.start(workspaceUuid, this.#sandbox.id, START_WAIT_MS, this.#signal);
    this.#sandbox = sandbox;
    this.#digest = digest;
    this.#signal.throwIfAborted();
    if (sandbox.status === 'running') return;
    throw new BuildFault(`The sandbox of the build did not start: ${sandbox.fault?.message ?? sandbox.status}`);
  }

  /** Makes an image of the files as they are now. */
  async commit(layerId: string): Promise<{ digest: string; sizeBytes: number }> {
    const { service, builds } = this.#deps;
    const sandbox = this.#current();
    await service.stop(this.#build.workspaceUuid, sandbox.id, 'TEMPLATE_BUILD');
    const made = await builds.commit(sandbox.id, layerId, this.#signal);
    this.#digest = made.digest;
    return made;
  }

  files(): Promise<SandboxFiles> {
    return this.#deps.files.forWriting(this.#build.workspaceUuid, this.#current().id);
  }

  /** Runs a command with its output in the log. Resolves with its exit code. */
  async run(command: BuildCommand, step: number, signal = this.#signal): Promise<number> {
    const output = this.#log.output(step);
    try {
      const end = await this.#deps.commands.run(
        this.#build.workspaceUuid,
        this.#current().id,
        { ...command, stdin: new Uint8Array() },
        { output: (bytes, channel, done) => output.push(bytes, channel, done) },
        signal,
      );
      if (end.error !== null) throw new BuildFault(end.error.message);
      if (end.timedOut && !signal.aborted) throw new BuildFault('the build exceeded its time limit');
      return end.exitCode;
    } catch (error) {
      // Fields of a request that the owner of the build never wrote.
      if (isAppError(error) && error.code === 'USER_NOT_FOUND') {
        const unknownUser = { user: command.user ?? '', command: command.argv.at(-1) ?? '' };
        throw new BuildFault(`unknown user: ${unknownUser.user}`, { cause: error, unknownUser });
      }
      throw error;
    } finally {
      output.end();
    }
  }

  /** Removes the sandbox, if there is one. */
  async dispose(): Promise<void> {
    const sandbox = this.#sandbox;
    this.#sandbox = null;
    this.#digest = null;
    if (sandbox === null) return;
    await this.#deps.service.remove(this.#build.workspaceUuid, sandbox.id).catch((error: unknown) => {
      if (!isAppError(error) || error.code !== 'SANDBOX_NOT_FOUND') throw error;
    });
  }

  #current(): Sandbox {
    if (this.#sandbox === null) throw new BuildFault('The sandbox of the build is gone');
    return this.#sandbox;
  }

  #create(digest: string, label: string, building: boolean): Promise<Sandbox> {
    const { service, network, isolation, limitMs } = this.#deps;
    const { workspaceUuid, ownerId, resources, id } = this.#build;
    return service.create(
      {
        workspaceUuid,
        maker: { kind: 'user', id: ownerId },
        image: label,
        snapshotId: null,
        template: { digest, buildId: null, user: null, workingFolder: null, startCommand: null, building },
        name: null,
        environment: {},
        labels: { [BUILD_LABEL]: id },
        resources,
        network,
        egressAllow: null,
        egressRules: [],
        volumes: [],
        mounts: [],
        cluster: null,
        isolation: isolation(),
        idleTimeoutSeconds: null,
        maxLifetimeSeconds: Math.ceil(limitMs / 1000) + EXPIRY_SLACK_SECONDS,
        expiresAt: null,
        onDrain: 'stop',
        onNodeLost: 'wait',
        onExpiry: 'delete',
        resumeSeconds: null,
        requestHost: null,
        limit: Number.MAX_SAFE_INTEGER,
        idempotencyKey: null,
      },
      START_WAIT_MS,
      this.#signal,
    );
  }
}

/** Absolute, with a slash at the end if the path has one. */
export function resolvePath(folder: string, path: string): string {
  const resolved = posix.resolve(folder, path);
  return path.endsWith('/') && resolved !== '/' ? `${resolved}/` : resolved;
}
