import type { KeyWrapper } from '@svc/keys';
import type { Database } from '@svc/sql';
import type { Kysely } from 'kysely';
import { archiveContext } from '../domain/archives/archive.ts';
import { authorityContext } from '../domain/egress-rules/egress-authorities.ts';
import { secretContext } from '../domain/secrets/secret.ts';
import { webhookContext } from '../domain/webhooks/webhook.ts';
import type { SandboxTables } from './tables.ts';

/**
 * Seals secrets of workspaces and webhooks, and the keys of sandboxes' authorities and of archives, under the wrapper's
 * newest key. Returns the number of values that were sealed under another one.
 */
export async function rewrapSandboxSecrets(
  { kysely: given }: Pick<Database<unknown>, 'kysely'>,
  wrapper: KeyWrapper,
): Promise<number> {
  const kysely = given as Kysely<SandboxTables>; // the platform's database has every module's tables
  const wanted = await wrapper.id();
  const secrets = await kysely.selectFrom('workspace_secret').selectAll().where('wrapper', '!=', wanted).execute();
  for (const { id, version, wrapper: old, box } of secrets) {
    const value = await wrapper.unwrap({ wrapper: old, text: box }, secretContext(id));
    const sealed = await wrapper.wrap(value, secretContext(id));
    await kysely
      .updateTable('workspace_secret')
      .set({ wrapper: sealed.wrapper, box: sealed.text })
      .where('id', '=', id)
      .where('version', '=', version) // a newer value is sealed under the newest key
      .execute();
  }
  const authorities = await kysely.selectFrom('sandbox_authority').selectAll().where('wrapper', '!=', wanted).execute();
  for (const { sandbox_id: id, wrapper: old, box } of authorities) {
    const key = await wrapper.unwrap({ wrapper: old, text: box }, authorityContext(id));
    const sealed = await wrapper.wrap(key, authorityContext(id));
    await kysely
      .updateTable('sandbox_authority')
      .set({ wrapper: sealed.wrapper, box: sealed.text })
      .where('sandbox_id', '=', id)
      .execute();
  }
  const archives = await kysely.selectFrom('sandbox_archive').selectAll().where('wrapper', '!=', wanted).execute();
  for (const { id, wrapper: old, box } of archives) {
    const key = await wrapper.unwrap({ wrapper: old, text: box }, archiveContext(id));
    const sealed = await wrapper.wrap(key, archiveContext(id));
    await kysely
      .updateTable('sandbox_archive')
      .set({ wrapper: sealed.wrapper, box: sealed.text })
      .where('id', '=', id)
      .execute();
  }
  const webhooks = await kysely.selectFrom('sandbox_webhook').selectAll().where('wrapper', '!=', wanted).execute();
  for (const { id, wrapper: old, box } of webhooks) {
    const value = await wrapper.unwrap({ wrapper: old, text: box }, webhookContext(id));
    const sealed = await wrapper.wrap(value, webhookContext(id));
    await kysely
      .updateTable('sandbox_webhook')
      .set({ wrapper: sealed.wrapper, box: sealed.text })
      .where('id', '=', id)
      .where('box', '=', box) // a newer secret is sealed under the newest key
      .execute();
  }
  return secrets.length + authorities.length + archives.length + webhooks.length;
}
