import {
  cases,
  newPerson,
  prepare,
  signIn,
  startIssuer,
  startWholePlatform,
  type Caller,
  type CredentialKind,
  type WholePlatform,
  type World,
} from '@svc/platform/testing';
import { helperBinaries, localDriverReason, SHARED_IMAGES } from '@svc/sandboxes/testing/local-subject';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { CHANNELS } from './channels.ts';
import { openPlace, type Place } from './place.ts';
import { takeAway, type Wanted } from './take-away.ts';
import { KIND, TAKINGS } from './takings.ts';

const reason = localDriverReason();
const title = 'every channel of the whole platform';
/** Only an empty workspace can be deleted: nothing in it has a channel. */
const OF_EMPTY = 'loses its workspace by deletion';
const TIMEOUT_MS = 240_000;

const ENVIRONMENT = {
  SVC_DISK_RESERVE_MB: '64',
  SVC_SANDBOXES_IMAGE_REGISTRY: '',
  SVC_SANDBOXES_IMAGE_CACHE: SHARED_IMAGES,
  SVC_CLUSTERS_CONNECTS_PER_MINUTE: '1000',
};

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), { timeout: TIMEOUT_MS }, () => {
  let platform: WholePlatform;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let world: World;

  beforeAll(async () => {
    issuer = await startIssuer();
    platform = await startWholePlatform({
      helperBinaries,
      environment: { ...ENVIRONMENT, SVC_ACCOUNTS_TRUSTED_ISSUERS: JSON.stringify([issuer.config]) },
    });
    const owner = await signIn(platform, 'owner@example.com');
    world = { platform, owner, signExternally: (email) => issuer.sign(email), expiresInMs: 60_000 };
  });
  afterAll(async () => {
    await platform.close();
    await issuer.close();
  });

  const within = async (
    kind: CredentialKind,
    callers: { caller: Caller; steward: Caller },
    use: (place: Place) => Promise<void>,
  ): Promise<void> => {
    const place = await openPlace(platform, kind, callers);
    try {
      await use(place);
    } finally {
      await place.close();
    }
  };

  it.concurrent.each(cases().filter(({ way }) => way !== OF_EMPTY))('ends if its $kind $way', async ({ way, kind }) => {
    const { caller, steward, take } = await prepare(world, way, kind);
    const wanted = Object.entries(CHANNELS).flatMap(([name, { refuses, outlives, open }]): Wanted[] => {
      if ((refuses?.(kind) ?? null) !== null) return [];
      return [{ name, open, isKept: (outlives?.(way, kind) ?? null) !== null }];
    });
    await within(kind, { caller, steward }, (place) => takeAway(place, wanted, take));
  });

  it.concurrent.each(Object.entries(TAKINGS))('ends if %s', async (_way, { ends, stays = {}, take }) => {
    const caller = await newPerson(world);
    const wanted = [ends, stays].flatMap((channels) =>
      Object.entries(channels).map(([name, { open }]): Wanted => ({ name, open, isKept: channels === stays })),
    );
    await within(KIND, { caller, steward: caller }, (place) => takeAway(place, wanted, () => take(place)));
  });
});
