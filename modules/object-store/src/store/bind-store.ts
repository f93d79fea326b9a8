import type { MetadataCommands, MetadataQueries, MetadataStore } from '../domain/ports/metadata-store.ts';
import { KnownTenants } from './known-tenants.ts';
import type { Command } from './outcome.ts';
import type { Program } from './program.ts';
import { commandPrograms, queryPrograms, type CommandName, type QueryName } from './programs/registry.ts';

/** Runs programs on a database. Implementing this makes a database a metadata store. */
export interface ProgramRunner {
  query<Result>(start: () => Program<Result>, name: QueryName): Promise<Result>;
  /** `weightBytes`: size of the command's content; `tenant`: whose turn the command waits for. */
  command(command: Command, weightBytes: number, tenant: string): Promise<unknown>;
  settle(): Promise<void>;
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Implements the port with the programs: each method runs the program of its name, as a query or as a command. */
export function bindStore(runner: ProgramRunner, tenants = new KnownTenants()): MetadataStore {
  const bound: Record<string, unknown> = {
    settle: () => runner.settle(),
    check: () => runner.check(),
    close: () => runner.close(),
  };
  for (const name of Object.keys(queryPrograms) as QueryName[]) {
    const start = queryPrograms[name] as (input: unknown) => Program<unknown>; // typed by the port
    const isBucket = FINDS_A_BUCKET.has(name);
    bound[name] = isBucket
      ? async (input: unknown) => tenants.learn(await runner.query(() => start(input), name))
      : (input: unknown) => runner.query(() => start(input), name);
  }
  for (const name of Object.keys(commandPrograms) as CommandName[]) {
    bound[name] = (input: unknown) => runner.command({ name, input }, weightOf(input), tenants.of(input));
  }
  // One property per program; programs are typed after the port's methods.
  return bound as unknown as MetadataCommands & MetadataQueries & Pick<MetadataStore, 'settle' | 'check' | 'close'>;
}

const FINDS_A_BUCKET: ReadonlySet<QueryName> = new Set(['findBucket', 'findBucketById']);

function weightOf(input: unknown): number {
  const { content } = input as { content?: { data?: Uint8Array } }; // only putObject has content
  return 256 + (content?.data?.length ?? 0);
}
