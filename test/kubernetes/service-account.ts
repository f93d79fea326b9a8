import { writeFile } from 'node:fs/promises';
import type { Kubectl } from './kubectl.ts';

export interface ServiceAccountOptions {
  kubectl: Kubectl;
  namespace: string;
  name: string;
  /** The kubeconfig to write. */
  file: string;
  /** The kubeconfig refers to this file instead of containing the token. */
  tokenFile?: string;
}

/** Creates a service account without rights, and a kubeconfig that holds only its token; returns the token. */
export async function makeServiceAccount(options: ServiceAccountOptions): Promise<string> {
  const { kubectl, namespace, name, file, tokenFile } = options;
  await kubectl('-n', namespace, 'create', 'serviceaccount', name);
  const token = (await kubectl('-n', namespace, 'create', 'token', name)).trim();
  const view = JSON.parse(await kubectl('config', 'view', '--raw', '--flatten', '-o', 'json')) as { users: object[] };
  const user = tokenFile === undefined ? { token } : { tokenFile };
  await writeFile(file, JSON.stringify({ ...view, users: view.users.map((each) => ({ ...each, user })) }));
  return token;
}
