import { CREDENTIALS, startHeldPlatform, WAYS, type CredentialKind, type Way } from '@svc/platform/testing';
import { describe, expect, it } from 'vitest';
import { isTest, projectFiles, readProjectFile } from '../law/project-files.ts';
import { CHANNELS } from './channels.ts';
import { AGENT_CHANNELS } from './cluster-channels.ts';
import { LISTENERS, OTHER_HOLDERS, OTHER_UPGRADES, OTHERS } from './elsewhere.ts';
import { TAKINGS } from './takings.ts';

/** The upgrades and files that the channels go through. */
const THROUGH: ReadonlySet<string> = new Set(
  [...Object.values(CHANNELS), ...Object.values(AGENT_CHANNELS)].flatMap(({ through }) => through ?? []),
);
/** A call of `hold`, of held rights or of an upgrade. */
const HOLDS = /(?:rights|held|upgrade)\.hold\(|[^.\w#]hold\(\w/;
const KNOWS_RIGHTS = /from '(?:@svc\/(?:access|http)|\.\/held-requests\.ts|\.\/granted-right\.ts)'|class HeldRights/;
const WORDS = /^\S+ \S+ \S+/;

describe('the table of channels', () => {
  it('has every upgrade of the platform, or says why it has none', async () => {
    const platform = await startHeldPlatform({});
    const names = platform.composition.upgrades.routes.map(({ name }) => name);
    await platform.close();
    expect(names.filter((name) => !THROUGH.has(name) && OTHER_UPGRADES[name] === undefined)).toEqual([]);
    expect(Object.keys(OTHER_UPGRADES).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('has every file that holds rights, or says why it has none', () => {
    const files = projectFiles().filter((path) => /^(packages|modules|apps)\/.*\/src\/.*\.ts$/.test(path));
    const holders = files.filter((path) => {
      const text = isTest(path) ? '' : readProjectFile(path);
      return HOLDS.test(text) && KNOWS_RIGHTS.test(text);
    });
    expect(holders.filter((path) => !THROUGH.has(path) && OTHER_HOLDERS[path] === undefined)).toEqual([]);
    expect(Object.keys(OTHER_HOLDERS).filter((path) => !holders.includes(path))).toEqual([]);
    expect([...THROUGH].filter((name) => name.includes('/') && !holders.includes(name))).toEqual([]);
  });

  it('ends each channel in each way, or says why it stays open', () => {
    const ways = Object.keys(WAYS) as Way[]; // the names of the table
    for (const [name, { refuses, outlives }] of Object.entries(CHANNELS)) {
      const users = CREDENTIALS.filter((kind) => (refuses?.(kind) ?? null) === null);
      const reasons = CREDENTIALS.flatMap((kind: CredentialKind) => [
        refuses?.(kind) ?? null,
        ...ways.map((way) => outlives?.(way, kind) ?? null),
      ]);
      expect(users, `${name} is opened by no credential`).not.toEqual([]);
      expect(
        ways.some((way) => users.some((kind) => (outlives?.(way, kind) ?? null) === null)),
        `${name} never ends`,
      ).toBe(true);
      expect(reasons.filter((reason) => reason !== null && !WORDS.test(reason))).toEqual([]);
    }
  });

  it('ends something in each way of its own', () => {
    expect(Object.entries(TAKINGS).filter(([, { ends }]) => Object.keys(ends).length === 0)).toEqual([]);
  });

  it('gives reasons that can be looked up', () => {
    const reasons = [OTHER_UPGRADES, OTHER_HOLDERS, LISTENERS, OTHERS].flatMap((each) => Object.values(each));
    expect(reasons.filter(({ why }) => !WORDS.test(why))).toEqual([]);
    const files = new Set(projectFiles());
    expect(reasons.flatMap(({ see }) => see).filter((path) => !files.has(path))).toEqual([]);
  });
});
