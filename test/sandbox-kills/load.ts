import { Cut, surely, pick, type Client } from './client.ts';
import { execute, readFile, unpackArchive, writeFile } from './file-operations.ts';
import type { KnownSandbox, State } from './journal.ts';
import { create, pause, remove, start, stop } from './lifecycle-operations.ts';
import { draw } from './random-source.ts';
import { fork, removeSnapshot, snapshot } from './snapshot-operations.ts';
import { buildTemplate, mayBuild, removeTemplate } from './template-operations.ts';
import { makeVolume, removeVolume } from './volume-operations.ts';

const MOST_SANDBOXES = 3;
const MOST_SNAPSHOTS = 2;
const MOST_VOLUMES = 2;

interface Operation {
  readonly share: number;
  readonly name: string;
  /** Returns false if there was nothing to do or it was refused. */
  readonly perform: (client: Client, sandbox: KnownSandbox) => Promise<boolean>;
}

const CREATE: Operation = { share: 25, name: 'create', perform: create };
const REMOVE: Operation = { share: 12, name: 'delete', perform: remove };
const START: Operation = { share: 25, name: 'start', perform: start };
const STOP: Operation = { share: 10, name: 'stop', perform: stop };
const SNAPSHOT: Operation = { share: 6, name: 'snapshot', perform: snapshot };
const FORK: Operation = { share: 5, name: 'fork', perform: fork };
const REMOVE_SNAPSHOT: Operation = { share: 4, name: 'delete snapshot', perform: removeSnapshot };
const MAKE_VOLUME: Operation = { share: 6, name: 'create volume', perform: makeVolume };
const REMOVE_VOLUME: Operation = { share: 3, name: 'delete volume', perform: removeVolume };
const BUILD: Operation = { share: 6, name: 'build', perform: buildTemplate };
const REMOVE_TEMPLATE: Operation = { share: 3, name: 'delete template', perform: removeTemplate };
const WRITE: Operation = { share: 20, name: 'write', perform: writeFile };
const UNPACK: Operation = { share: 8, name: 'unpack', perform: unpackArchive };
const READ: Operation = { share: 10, name: 'read', perform: readFile };
const EXECUTE: Operation = { share: 15, name: 'exec', perform: execute };
const PAUSE: Operation = { share: 8, name: 'pause', perform: pause };

/** Operations for a sandbox in each state; `share` is their relative frequency. */
const MIX: Readonly<Record<State | 'doubtful', readonly Operation[]>> = {
  running: [WRITE, UNPACK, READ, EXECUTE, PAUSE, STOP, REMOVE, SNAPSHOT, FORK],
  paused: [START, WRITE, UNPACK, EXECUTE, STOP, REMOVE, SNAPSHOT, FORK],
  stopped: [START, REMOVE, SNAPSHOT, FORK],
  error: [START, REMOVE],
  doubtful: [START, STOP, REMOVE, EXECUTE],
};

/** Runs operations sequentially until the platform is killed or `enough` aborts. */
export async function workUntil(client: Client, enough: AbortSignal): Promise<void> {
  while (!enough.aborted) {
    forget(client);
    const sandbox = pick(
      client.random,
      client.sandboxes.filter((each) => surely(each) !== null),
    );
    const operation = next(client, sandbox);
    if (operation === null) return; // everything is open until the next audit
    try {
      // `create` ignores the sandbox.
      const done = await operation.perform(client, sandbox as KnownSandbox);
      if (done) client.journal.count(operation.name);
    } catch (error) {
      if (error instanceof Cut) client.journal.open += 1;
      else client.journal.wrong(`${operation.name}: ${String(error)}`);
      return;
    }
  }
}

function next(client: Client, sandbox: KnownSandbox | undefined): Operation | null {
  const { random, sandboxes, snapshots, volumes, templates, journal, lacks } = client;
  const mayCreate = sandboxes.length < MOST_SANDBOXES;
  if (sandbox === undefined) return mayCreate ? CREATE : null;
  const state = surely(sandbox) ?? 'doubtful';
  const isFull = snapshots.length >= MOST_SNAPSHOTS;
  // A fork would have volumes of its own, whose names are not known before the answer.
  const mayFork = mayCreate && sandbox.volume === null;
  const possible = MIX[state].filter((each) => (each === SNAPSHOT ? !isFull : each === FORK ? mayFork : true));
  return draw(random, [
    ...possible,
    ...(mayCreate ? [CREATE] : []),
    ...(mayCreate && mayBuild(client) ? [BUILD] : []), // a sandbox is created from it
    ...(templates.some(({ existence }) => existence === 'there') ? [REMOVE_TEMPLATE] : []),
    ...(volumes.length < MOST_VOLUMES && lacks?.has('volumes') !== true ? [MAKE_VOLUME] : []),
    ...(volumes.some((each) => journal.isFree(each)) ? [REMOVE_VOLUME] : []),
    ...(snapshots.some(({ existence }) => existence === 'there') ? [REMOVE_SNAPSHOT] : []),
  ]);
}

/** Removes deleted items from the client's lists; the journal keeps them until they are judged. */
function forget(client: Client): void {
  for (const list of [client.sandboxes, client.snapshots, client.volumes, client.templates]) {
    for (let index = list.length - 1; index >= 0; index -= 1)
      if (list[index]?.existence === 'gone') list.splice(index, 1);
  }
}
