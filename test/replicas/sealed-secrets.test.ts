import { createSecretKey, randomBytes } from 'node:crypto';
import { createLocalKeyWrapper, type KeyWrapper } from '@svc/keys';
import { migrations } from '@svc/migrations';
import { createSealedSecrets, SECRET_CHANNEL } from '@svc/replicas';
import { describeDialects, waitFor } from '@svc/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';

const first = createSecretKey(randomBytes(32));
const second = createSecretKey(randomBytes(32));
const wrapperOf = (current: typeof first, ...others: (typeof first)[]): KeyWrapper =>
  createLocalKeyWrapper({ loadMasterKeys: async () => ({ current, others }), random: randomBytes });

describeDialects<unknown>('sealed secrets', migrations, (database) => {
  const open = (wrapper = wrapperOf(first)) => createSealedSecrets(database(), wrapper);

  it('are the same for every replica, whichever creates them first', async () => {
    const made = await Promise.all(
      ['a', 'b', 'c'].map((content) => open().ensure('preview', async () => Buffer.from(content))),
    );
    expect(new Set(made.map(String)).size).toBe(1);
    expect(await open().find('preview')).toEqual(made[0]);
    expect(await open().find('other')).toBeNull();
  });

  it('are listed by prefix, replaced and removed', async () => {
    const secrets = open();
    for (const [name, content] of [
      ['jwt/b', '2'],
      ['jwt/a', '1'],
      ['other', '3'],
    ] as const) {
      await secrets.put(name, Buffer.from(content));
    }
    await secrets.put('jwt/a', Buffer.from('4'));
    expect((await secrets.list('jwt/')).map(String)).toEqual(['4', '2']);
    await secrets.remove('jwt/a');
    expect((await secrets.list('jwt/')).map(String)).toEqual(['2']);
  });

  it('are changed by the first of several replicas that read the same version', async () => {
    const secrets = open();
    expect(await secrets.update('shared', async () => Buffer.from('none'))).toBe(false);
    await secrets.put('shared', Buffer.from('0'));
    const read = Promise.withResolvers<void>();
    const increase = async (content: Buffer): Promise<Buffer> => {
      await read.promise;
      return Buffer.from(String(Number(content) + 1));
    };
    const changes = [1, 2, 3].map(() => secrets.update('shared', increase));
    read.resolve();
    const results = await Promise.all(changes);
    expect(results.filter(Boolean).length).toBe(Number(await secrets.find('shared')));
    expect(results).toContain(true);
    expect(await secrets.update('shared', async () => null)).toBe(false);
  });

  it('tell every replica that one changed', async () => {
    const heard: string[] = [];
    let isListening = false;
    database().events.subscribe(SECRET_CHANNEL, {
      onEvent: (id) => void heard.push(id),
      onMissed: () => {
        isListening = true;
      },
    });
    await waitFor(() => isListening);
    await open().put('jwt/a', Buffer.from('1'));
    await open().remove('jwt/a');
    await waitFor(() => heard.length === 2);
    expect(heard).toEqual(['jwt/a', 'jwt/a']);
  });

  it('are stored sealed, each bound to its name', async () => {
    await open().put('one', Buffer.from('plaintext'));
    const { rows } = await sql<{ box: string }>`select box from sealed_secret`.execute(database().kysely);
    expect(Buffer.from(rows[0]?.box ?? '', 'base64').includes('plaintext')).toBe(false);
    await sql`update sealed_secret set name = 'two'`.execute(database().kysely);
    await expect(open().find('two')).rejects.toMatchObject({ code: 'KEY_NOT_OPENED' });
  });

  it('follow a change of the master key', async () => {
    await open().put('one', Buffer.from('content'));
    await expect(open(wrapperOf(second)).find('one')).rejects.toMatchObject({ code: 'KEY_NOT_OPENED' });
    expect(await open(wrapperOf(second, first)).rewrap()).toBe(1);
    expect(await open(wrapperOf(second, first)).rewrap()).toBe(0);
    expect(await open(wrapperOf(second)).find('one')).toEqual(Buffer.from('content'));
  });
});
