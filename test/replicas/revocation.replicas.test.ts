import { randomBytes } from 'node:crypto';
import {
  done,
  newPerson,
  prepare,
  signIn,
  startWholePlatform,
  type Caller,
  type CredentialKind,
  type Way,
  type WholePlatform,
  type World,
} from '@svc/platform/testing';
import { helperBinaries, localDriverReason, SHARED_IMAGES } from '@svc/sandboxes/testing/local-subject';
import { requirement, skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Channel } from '../revocation/channel.ts';
import { CHANNELS } from '../revocation/channels.ts';
import { openPlace, type Place } from '../revocation/place.ts';
import { takeAway, type Wanted } from '../revocation/take-away.ts';
import { KIND, TAKINGS } from '../revocation/takings.ts';
import { startEngine, type Engine } from './engine.ts';
import { createDatabase } from './replicas.ts';

const reason = requirement('postgres') ?? localDriverReason();
const title = 'every channel at two replicas';
const TIMEOUT_MS = 280_000;
/** They exist once, wherever they are opened: the program in the sandbox, and the connections of the agent. */
const ONCE = /mounted|agent/;
/** One of each mechanism: `test/revocation` and the platform's own test have all ways of all credentials. */
const WAYS: readonly (readonly [kind: CredentialKind, way: Way])[] = [
  ['JWT', 'loses its member by removal'],
  ['API token', 'is deleted'],
];
const WANTED = /^an access key|^the links|^a sandbox|^a cluster|^an agent/;

/** The same place, used through another replica. */
async function through(platform: WholePlatform, place: Place): Promise<Place> {
  const { port } = await done(platform, 'GET', '/api/ssh', place.steward.headers);
  return { ...place, platform, sshPort: Number(port) };
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), { timeout: TIMEOUT_MS }, () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let engine: Engine;
  let holder: WholePlatform;
  let other: WholePlatform;
  let world: World;

  beforeAll(async () => {
    database = await createDatabase();
    engine = await startEngine();
    const environment = {
      ...engine.environment,
      SVC_DATABASE_URL: database.url,
      SVC_MASTER_KEY: randomBytes(32).toString('hex'),
      SVC_DISK_RESERVE_MB: '64',
      SVC_SANDBOXES_IMAGE_REGISTRY: '',
      SVC_SANDBOXES_IMAGE_CACHE: SHARED_IMAGES,
      SVC_CLUSTERS_CONNECTS_PER_MINUTE: '1000',
    };
    holder = await startWholePlatform({ helperBinaries, environment });
    other = await startWholePlatform({ helperBinaries, environment });
    const owner = await signIn(holder, 'owner@example.com');
    const signExternally = (): never => {
      throw new Error('no test has an external issuer');
    };
    // Credentials are created, and taken away, at the replica that has neither sandboxes nor tunnels.
    world = { platform: other, owner, signExternally, expiresInMs: 60_000 };
  });
  afterAll(async () => {
    await other?.close();
    await holder?.close();
    await engine?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  /** Uses a place whose sandboxes and tunnel the first replica holds, as each replica shows it. */
  const within = async (
    kind: CredentialKind,
    callers: { caller: Caller; steward: Caller },
    use: (there: Place, elsewhere: Place) => Promise<void>,
  ): Promise<void> => {
    const place = await openPlace(holder, kind, callers);
    try {
      await use(place, await through(other, place));
    } finally {
      await place.close();
    }
  };
  const atBoth = (
    places: readonly [Place, Place],
    channels: readonly (readonly [string, Pick<Channel, 'open'>, boolean])[],
  ): Wanted[] =>
    channels.flatMap(([name, { open }, isKept]) => {
      const [there, elsewhere] = places;
      const first = { name: `${name}, at its replica`, isKept, open: () => open(there) };
      const second = { name: `${name}, at the other replica`, isKept, open: () => open(elsewhere) };
      return ONCE.test(name) ? [first] : [first, second];
    });

  it.each(WAYS)('ends if its %s %s', async (kind, way) => {
    const { caller, steward, take } = await prepare(world, way, kind);
    const channels = Object.entries(CHANNELS).flatMap(([name, channel]) =>
      (channel.refuses?.(kind) ?? null) === null
        ? [[name, channel, (channel.outlives?.(way, kind) ?? null) !== null] as const]
        : [],
    );
    await within(kind, { caller, steward }, (...places) => takeAway(places[0], atBoth(places, channels), take));
  });

  it.each(Object.entries(TAKINGS).filter(([way]) => WANTED.test(way)))(
    'ends if %s',
    async (_way, { ends, stays = {}, take }) => {
      const caller = await newPerson(world);
      const channels = [ends, stays].flatMap((each) =>
        Object.entries(each).map(([name, channel]) => [name, channel, each === stays] as const),
      );
      await within(KIND, { caller, steward: caller }, (...places) =>
        takeAway(places[0], atBoth(places, channels), () => take(places[1])),
      );
    },
  );
});
