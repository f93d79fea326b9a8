import type { SandboxContext } from '../context.ts';
import type { MountService } from '../mounts/mount-service.ts';
import type { VolumeService } from '../volumes/volume-service.ts';
import type { ForkCopy, ForkCopyRepository, NoteCopy } from './fork-copy.ts';

/** The copies of one fork. */
export interface ForkJournal {
  readonly note: NoteCopy;
  /** The sandboxes of the fork are recorded and mount its copies. */
  end(): Promise<void>;
  /** Deletes the copies that no sandbox mounts. Never throws; what could not be deleted is deleted after a start. */
  undo(): Promise<void>;
}

export interface ForkCopiesDeps {
  readonly context: Pick<SandboxContext, 'clock' | 'random' | 'node' | 'log'>;
  readonly repository: ForkCopyRepository;
  readonly volumes: Pick<VolumeService, 'removeCopy'>;
  readonly mounts: Pick<MountService, 'removeFork'>;
}

/**
 * Remembers which copies a fork makes, from before each one exists until its sandboxes do. After a crash, those that no
 * sandbox mounts are deleted, because no client knows their names.
 */
export class ForkCopies {
  readonly #deps: ForkCopiesDeps;

  constructor(deps: ForkCopiesDeps) {
    this.#deps = deps;
  }

  begin(workspaceUuid: string): ForkJournal {
    const { context, repository } = this.#deps;
    const { clock, random, node } = context;
    const forkId = random.uuid();
    let isUsed = false;
    return {
      note: async (copy) => {
        isUsed = true;
        const createdAt = clock.now().toISOString();
        await repository.insert({ ...copy, id: random.uuid(), forkId, node, workspaceUuid, createdAt });
      },
      end: async () => {
        if (isUsed) await repository.remove((await repository.ofFork(forkId)).map(({ id }) => id));
      },
      undo: async () => {
        if (isUsed) await this.#undo(() => repository.ofFork(forkId));
      },
    };
  }

  /** After a start of the node: deletes what its forks left. */
  async recover(): Promise<void> {
    await this.#undo(() => this.#deps.repository.ofNode(this.#deps.context.node));
  }

  async #undo(find: () => Promise<readonly ForkCopy[]>): Promise<void> {
    const { context, repository, volumes, mounts } = this.#deps;
    try {
      for (const { id, kind, ...copy } of await find()) {
        try {
          if (kind === 'bucket') await mounts.removeFork(copy);
          else await volumes.removeCopy(copy);
          await repository.remove([id]);
        } catch (error) {
          context.log.warn(
            { err: error, kind, name: copy.name },
            'a copy of a failed fork was kept until the next start',
          );
        }
      }
    } catch (error) {
      context.log.error({ err: error }, 'copies of failed forks could not be found');
    }
  }
}
