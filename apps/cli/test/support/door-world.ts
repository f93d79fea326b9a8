import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  done,
  newExpiredToken,
  newMember,
  newSandboxToken,
  newServiceAccount,
  newTeam,
  newToken,
  signIn,
  startHeldPlatform,
  type Caller,
  type HeldPlatform,
  type Person,
  type Route,
} from '@svc/platform/testing';
import { temporaryFolder } from '@svc/testing';
import { Recorder } from './recorder.ts';
import { runCommand, type CommandRun } from './run-command.ts';

/** A request, by the route of the platform that it reached. */
export interface Asked {
  readonly route: string;
  readonly status: number | null;
}

export type Who = 'owner' | 'guest' | 'reader' | 'stranger' | 'expired';

export interface World {
  readonly platform: HeldPlatform;
  readonly recorder: Recorder;
  readonly callers: Readonly<Record<Who, Caller>>;
  /** Runs `svc …` as a caller, in the workspace of the owner; interrupted once it has asked for `until`. */
  run(command: string, args: readonly string[], who: Who, until?: string): Promise<CommandRun>;
  /** The requests since the last run. */
  asked(): readonly Asked[];
  /** Whether REST lets the caller in. */
  isLetIn(route: string, who: Who): Promise<boolean>;
  environmentOf(who: Who): Record<string, string>;
  /** An argument with the sandbox and the folder of the world. */
  fill(argument: string): string;
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const folder = await temporaryFolder('svc-doors-');
  const platform = await startHeldPlatform({ password: { memory_kib: 8, passes: 1, parallelism: 1 } });
  const recorder = new Recorder(platform.port);
  await recorder.listen();
  const { callers, sandbox } = await seed(platform);
  await writeFiles(folder.path);
  const environmentOf = (who: Who): Record<string, string> => {
    const { headers, workspace, team } = callers[who];
    return {
      HOME: join(folder.path, who),
      XDG_CONFIG_HOME: join(folder.path, who),
      SVC_URL: recorder.url,
      SVC_TOKEN: headers['authorization']?.replace('Bearer ', '') ?? '',
      SVC_WORKSPACE: workspace,
      ...(team === null ? {} : { SVC_TEAM: team }),
    };
  };
  const asked = (): Asked[] =>
    recorder.requests.map(({ method, path, status }) => ({ route: nameOf(platform.routes, method, path), status }));
  const fill = (argument: string): string => argument.replace('SANDBOX', sandbox).replace('FOLDER', folder.path);
  return {
    platform,
    recorder,
    callers,
    environmentOf,
    fill,
    asked,
    run: async (command, args, who, until) => {
      await recorder.listen();
      const isEnough = (): boolean => asked().some(({ route, status }) => route === until && status !== null);
      return runCommand([...command.split(' '), ...args.map(fill)], environmentOf(who), isEnough);
    },
    isLetIn: async (name, who) => {
      const route = platform.routes.find(({ method, url }) => `${method} ${url}` === name);
      if (route === undefined) throw new Error(`the platform has no route ${name}`);
      if (route.scope === 'public') return true;
      const opened = await platform.open(route, pathOf(route, callers[who]), callers[who].headers);
      opened.close();
      return opened.isOpen;
    },
    close: async () => {
      await recorder.close();
      await platform.close();
      await folder.remove();
    },
  };
}

async function seed(platform: HeldPlatform): Promise<{ callers: Readonly<Record<Who, Caller>>; sandbox: string }> {
  const operator = await signIn(platform, 'owner@example.com');
  const { team, workspace } = await newTeam(platform, operator);
  const mine: Person = { ...operator, workspace, team: null };
  const owner = await newToken(platform, mine);
  const of = `workspace_uuid=${workspace}`;
  const token = await newSandboxToken(platform, owner);
  const store = `/api/v1/workspace/${workspace}/object-store`;
  await done(platform, 'POST', `${store}/buckets`, owner.headers, { name: 'photos' });
  await done(platform, 'POST', `/v1/clusters?${of}`, owner.headers, { name: 'production' });
  const guest = await newMember(platform, operator, { team, workspace }, 'guest');
  const stranger = await newMember(platform, operator, await newTeam(platform, operator), 'guest');
  const expired = await newExpiredToken(platform, mine);
  return {
    sandbox: String(token['e2b-sandbox-id']),
    callers: {
      owner,
      guest: await newToken(platform, guest),
      reader: await newServiceAccount(platform, mine, workspace, { scopes: ['read'] }),
      stranger: { ...(await newToken(platform, stranger)), workspace, team: null },
      expired,
    },
  };
}

async function writeFiles(folder: string): Promise<void> {
  await writeFile(join(folder, 'secret'), 'value');
  await writeFile(join(folder, 'manifest.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n');
  await writeFile(join(folder, 'rules.json'), '{"rules":[]}');
  await writeFile(
    join(folder, 'key.pub'),
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsnzxyF0dTzCBQ1VYvGZYzoDVqlG6Fp2YdXSsdFq3Ch a@b\n',
  );
  await mkdir(join(folder, 'tree'));
  await writeFile(join(folder, 'tree', 'file'), 'content');
}

/** The route that the router chooses: the one with the fewest parameters. */
function nameOf(routes: readonly Route[], method: string, path: string): string {
  if (method === 'S3') return method;
  if (method === 'UPGRADE') {
    const pattern = path
      .replace(/sbx_[a-z2-7]+/, ':id')
      .replace(/(clusters\/)[^/]+/, '$1:cluster')
      .replace(/(forward\/)[^/]+/, '$1:service');
    return `UPGRADE ${pattern}`;
  }
  const asked = method === 'HEAD' ? 'GET' : method;
  const matching = routes.filter((route) => route.method === asked && patternOf(route).test(path));
  const [found] = matching.toSorted((one, other) => parametersOf(one) - parametersOf(other));
  return found === undefined ? `${method} ${path} is no route` : `${found.method} ${found.url}`;
}

function patternOf({ url }: Route): RegExp {
  const text = url.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${text.replaceAll(/:[a-zA-Z_]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}

const parametersOf = ({ url }: Route): number => url.split(/[:*]/).length;

function pathOf({ url }: Route, { workspace, team }: Caller): string {
  const path = url
    .replace(':workspace_uuid', workspace)
    .replaceAll(/:[a-z_]+/gi, () => 'x')
    .replaceAll('*', 'x');
  return `${path}?workspace_uuid=${workspace}${team === null ? '' : `&team_uuid=${team}`}`;
}
