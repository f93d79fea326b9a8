import type { MetadataCommands, MetadataQueries, MetadataStore } from '../domain/ports/metadata-store.ts';
import { KnownTenants } from './known-tenants.ts';
import type { Command } from './outcome.ts';
import type { Program } from './program.ts';
import { commandPrograms, queryPrograms, type CommandName, type QueryName } from './programs/registry.ts';

/** What a database has to be able to do to be a metadata store. */
export interface ProgramRunner {
  query<Result>(program: Program<Result>): Promise<Result>;
  /** `weightBytes`: how much the command carries; `tenant`: whose turn it waits for. */
  command(command: Command, weightBytes: number, tenant: string): Promise<unknown>;
  settle(): Promise<void>;
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the port's methods from the programs: a method is its name and its input, run as a query or as a command. */
export function bindStore(runner: ProgramRunner, tenants = new KnownTenants()): MetadataStore {
  const bound: Record<string, unknown> = {
    settle: () => runner.settle(),
    check: () => runner.check(),
    close: () => runner.close(),
  };
  for (const name of Object.keys(queryPrograms) as QueryName[]) {
    const start = queryPrograms[name] as (input: unknown) => Program<unknown>; // the input's type is the port's
    const isBucket = FINDS_A_BUCKET.has(name);
    bound[name] = isBucket
      ? async (input: unknown) => tenants.learn(await runner.query(start(input)))
      : (input: unknown) => runner.query(start(input));
  }
  for (const name of Object.keys(commandPrograms) as CommandName[]) {
    bound[name] = (input: unknown) => runner.command({ name, input }, weightOf(input), tenants.of(input));
  }
  // One property for each program, and the programs are typed after the port's methods.
  return bound as unknown as MetadataCommands & MetadataQueries & Pick<MetadataStore, 'settle' | 'check' | 'close'>;
}

const FINDS_A_BUCKET: ReadonlySet<QueryName> = new Set(['findBucket', 'findBucketById']);

function weightOf(input: unknown): number {
  const { content } = input as { content?: { data?: Uint8Array } }; // only putObject has it
  return 256 + (content?.data?.length ?? 0);
}
