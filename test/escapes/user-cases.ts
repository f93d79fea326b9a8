import { runInSandbox, type RunOptions, type RunResult } from '@svc/sandboxes/testing/run-in-sandbox';
import type { EscapeCase } from './escape-case.ts';
import type { Ground, Sandbox } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { withSecret } from './secret-file.ts';

const USER = 'app';
const PROBE = '/usr/probe';
const SECRET = 'a-secret-of-root';
const USERS = `app:x:1000:1000::/home/app:/bin/sh
member:x:1001:1001::/home/member:/bin/sh`;
const SETUP = `mkdir -p /usr /srv /home/app /home/member
cp /root/probe ${PROBE} && chmod 755 ${PROBE}
chown 1000:1000 /home/app && chown 1001:1001 /home/member
grep -q ^root: /etc/passwd || echo root:x:0:0::/root:/bin/sh >> /etc/passwd
echo '${USERS}' >> /etc/passwd
grep -q ^root: /etc/group || echo root:x:0: >> /etc/group
sed -i 's/^root:x:0:.*/root:x:0:member/' /etc/group
printf ${SECRET} > /srv/private && chmod 600 /srv/private
printf ${SECRET} > /srv/of-group && chmod 040 /srv/of-group
(KEPT=${SECRET} exec sleep 7000 3< /srv/private >/dev/null 2>&1 </dev/null) & echo $! > /srv/pid`;
const ANSWER_LIMIT_MS = 10_000;
/** More descriptors than the helper has. */
const MAX_DESCRIPTORS = 40;

/** Names that must not select a user of the list above, least of all root. */
const HOSTILE_NAMES = [
  'app:x:0:0::/:/bin/sh',
  'app\nroot',
  '../root',
  '0:0',
  '+0',
  '-0',
  ' 0',
  '00',
  '0x0',
  '-1',
  '4294967295',
  '4294967296',
  '18446744073709551616',
  'root ',
  'ROOT',
  'r\u0000oot',
  '/etc/passwd',
  '*',
];

/** User lists that have no end, or are none. */
const HOSTILE_LISTS: readonly (readonly [what: string, make: string])[] = [
  ['a FIFO', 'mkfifo /etc/passwd'],
  ['a device', 'ln -s /dev/zero /etc/passwd'],
  ['a terminal', 'ln -s /dev/ptmx /etc/passwd'],
  ['a loop of links', 'ln -s passwd /etc/passwd'],
  ['8 MiB long', 'head -c 8388608 /dev/zero | tr "\\0" "\\n" > /etc/passwd'],
  ["the helper's memory", 'ln -s /proc/1/mem /etc/passwd'],
];

/** Programs that run as another user of the sandbox, and what the files that define users can do to the helper. */
export function userCases(): EscapeCase[] {
  return [
    ...scripts().map(([title, attempt, control]) => ({
      title,
      attempt: (ground: Ground) => shell(ground, attempt, USER),
      control: (ground: Ground) => shell(ground, control.script, control.user),
    })),
    {
      title: 'keeps a capability as another user',
      attempt: (ground) => shell(ground, `${PROBE} holds-capability`, USER),
      control: (ground) => shell(ground, `${PROBE} holds-capability`),
    },
    {
      title: 'gains a capability as another user through a file that grants it',
      attempt: async ({ sandbox }) => (await sandbox('users')).probe('file-capability', '/srv'),
      control: ({ host }) => host('file-capability', '/var/tmp'),
    },
    {
      title: 'starts a program as root by a made-up user name',
      attempt: async (ground) => {
        const users = await prepared(ground);
        return isUser(users, HOSTILE_NAMES, '0');
      },
      control: async (ground) => isUser(await prepared(ground), ['root', '0'], '0'),
    },
    {
      title: 'blocks the helper with a list of users that never ends',
      attempt: endlessLists,
      control: async (ground) => {
        await prepared(ground);
        return shell(ground, 'mkfifo /srv/fifo; timeout 2 cat /srv/fifo; test $? -ge 124');
      },
    },
    {
      title: 'starts in a folder that the helper has open (CVE-2024-21626), by its working folder or a home folder',
      attempt: (ground) => withSecret((path, secret) => startBelowDescriptors(ground, path, secret)),
      control: ({ host }) => withSecret((path, secret) => host('content', `/proc/self/cwd/..${path}`, secret)),
    },
  ];
}

interface Control {
  readonly script: string;
  readonly user?: string;
}

/** What a script tries as another user, and the same as root or on what belongs to the user. */
function scripts(): (readonly [title: string, attempt: string, control: Control])[] {
  const other = '$(cat /srv/pid)';
  return [
    ["reads root's private files as another user", 'cat /srv/private', { script: 'cat /srv/private' }],
    [
      'changes the list of users as another user',
      'echo evil:x:0:0::/:/bin/sh >> /etc/passwd || mv /etc/passwd /etc/moved || rm /etc/passwd',
      { script: 'echo "" >> /etc/passwd' },
    ],
    [
      'replaces programs of root as another user',
      `echo x > ${PROBE} || mv ${PROBE} /home/app/ || rm ${PROBE} < /dev/null || chmod 777 /usr || cp /bin/sh /usr/new || cp /bin/sh /bin/new`,
      { script: `cp ${PROBE} ${PROBE}.new && mv ${PROBE}.new ${PROBE}` },
    ],
    [
      'traces processes of root as another user',
      `${PROBE} trace ${other}`,
      { script: `${PROBE} trace child`, user: USER },
    ],
    [
      'ends processes of root as another user',
      `${PROBE} kill ${other} || ${PROBE} kill 1`,
      { script: `sleep 60 & ${PROBE} kill $!`, user: USER },
    ],
    [
      "reads the environment of root's processes, or lists their descriptors, as another user",
      `cat /proc/${other}/environ || ls /proc/${other}/fd/ || ls /proc/1/fd/`,
      { script: 'cat /proc/$$/environ && ls /proc/$$/fd/', user: USER },
    ],
    [
      "reads the memory, open files and folders of root's processes as another user",
      `cd /proc/${other} && { head -c 1 mem || cat fd/3 || ls root/ || ls cwd/; } 2>/dev/null`,
      { script: 'exec 3< /etc/passwd; cd /proc/$$ && cat fd/3 && ls root/ cwd/', user: USER },
    ],
    [
      'becomes root again as another user (setuid, su, a set-user-ID program of its own)',
      `${PROBE} become-root || (echo | su -c true) || (cp ${PROBE} /home/app/own && chmod 6755 /home/app/own && /home/app/own is-root)`,
      { script: `${PROBE} become-root` },
    ],
    [
      "keeps root's groups as another user",
      `${PROBE} group 0 || cat /srv/of-group`,
      { script: `${PROBE} group 0 && cat /srv/of-group`, user: 'member' },
    ],
  ];
}

/** The sandbox with the users, made once. */
async function prepared({ sandbox }: Ground): Promise<Sandbox> {
  const users = await sandbox('users');
  const { exitCode, stderr } = await users.shell(`test -e /srv/pid && exit; ${SETUP}`);
  if (exitCode !== 0) throw new Error(`the users were not made: ${stderr}`);
  return users;
}

async function shell(ground: Ground, script: string, user?: string): Promise<Outcome> {
  const { exitCode, stdout, stderr, failure } = await (await prepared(ground)).shell(script, user);
  if (failure !== null) throw new Error(`it was not tried: ${failure}`);
  return { done: exitCode === 0, detail: `${stdout}${stderr}`.trim() };
}

/** Done if a program that is started under one of the names has the number. */
async function isUser({ connection }: Sandbox, names: readonly string[], uid: string): Promise<Outcome> {
  for (const user of names) {
    const { stdout, failure } = await runInSandbox(connection, ['sh', '-c', 'id -u'], { user });
    if (failure !== null && failure !== 'NO_SUCH_USER') throw new Error(`${JSON.stringify(user)}: ${failure}`);
    if (stdout.trim() === uid) return { done: true, detail: JSON.stringify(user) };
  }
  return { done: false, detail: `${names.length} names` };
}

async function endlessLists(ground: Ground): Promise<Outcome> {
  const { connection, shell: run } = await ground.sandbox('lists');
  await run('cp /etc/passwd /etc/kept');
  for (const [what, make] of HOSTILE_LISTS) {
    const { exitCode, stderr } = await run(`rm -f /etc/passwd; ${make}`);
    if (exitCode !== 0) throw new Error(`${what} was not made: ${stderr}`);
    const answer = await inTime(runInSandbox(connection, ['true'], { user: 'nobody-here' }));
    if (answer === null) return { done: true, detail: what };
    if (answer.failure === null) return { done: true, detail: `${what} names a user` };
  }
  await run('mv /etc/kept /etc/passwd');
  return { done: false, detail: `${HOSTILE_LISTS.length} lists` };
}

/** Null if there is no answer. */
async function inTime(running: Promise<RunResult>): Promise<RunResult | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ANSWER_LIMIT_MS);
  try {
    return await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A child of the helper has all of its descriptors until it executes the program, and enters its folder before. Looks for a file
 * of the host from each of them.
 */
async function startBelowDescriptors(ground: Ground, path: string, secret: string): Promise<Outcome> {
  const users = await prepared(ground);
  const find = `for up in . .. ../.. ../../.. ../../../..; do cat "$up${path}" 2>/dev/null; done; pwd`;
  const tried: string[] = [];
  const look = async (place: string, options: RunOptions): Promise<Outcome | null> => {
    const { stdout, failure } = await runInSandbox(users.connection, ['sh', '-c', find], options);
    tried.push(`${place}: ${failure ?? stdout.trim()}`);
    return stdout.includes(secret) ? { done: true, detail: place } : null;
  };
  for (let number = 0; number < MAX_DESCRIPTORS; number += 1) {
    for (const place of [`/proc/self/fd/${number}`, `/proc/1/fd/${number}`, `/proc/self/fd/${number}/..`]) {
      const found = (await look(place, { cwd: place })) ?? (await look(place, { env: { HOME: place }, cwd: '.' }));
      if (found !== null) return found;
    }
    const home = `/proc/self/fd/${number}`;
    await users.shell(`sed -i 's|^member:.*|member:x:1001:1001::${home}:/bin/sh|' /etc/passwd`);
    const found = await look(home, { user: 'member' });
    if (found !== null) return found;
  }
  await users.shell(`sed -i 's|^member:.*|member:x:1001:1001::/home/member:/bin/sh|' /etc/passwd`);
  return { done: false, detail: tried.at(-1) ?? '' };
}
