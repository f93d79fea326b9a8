import type { Worker } from 'node:worker_threads';
import { createMetrics, type Metrics } from '@svc/telemetry';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';
import { show, stateOf, createViewer } from '../support/terminal-state.ts';

const reason = localDriverReason();
const title = 'screens of terminal sessions of a real sandbox';
const [COLS, ROWS] = [80, 24];

/**
 * Draws a frame on the alternate screen, then rewrites one line of it for more than the given number of bytes. Sets the
 * title at the end.
 */
const FRAME = String.raw`
$| = 1;
print "\e[?1049h\e[2J\e[H\e[44;1m", " " x 80, "\e[0m\e[3;20r\e[?25l\e[?1002;1006h\e(0";
print "\e[$_;1Hx\e[$_;80Hx" for 3 .. 20;
print "\e(B\e[22;1H\e[38;5;208mstatus: \e[4mready\e[0m\e[12;5H\e7";
for (my ($n, $i) = (0, 0); $n < $ARGV[0]; $i++) {
  my $s = sprintf("\e[10;4H\e[%dmstep %08d of the work\e[0m\e[K", 31 + $i % 7, $i);
  print $s; $n += length $s;
}
print "\e[11;4H\e[35mdone\e[5;7H\e]2;over $ARGV[1]\a";
open my $over, ">", "/tmp/over-$ARGV[1]";
sleep 1000;
`;

/** Output sent to a client, as a plain terminal would show it. */
interface Viewer {
  readonly client: TerminalClient;
  ready(): Record<string, unknown>;
  /** Offset after the last byte. */
  offset(): number;
  text(): string;
  state(cols?: number, rows?: number): unknown;
  type(text: string): void;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  let metrics: Metrics;
  const workers: Worker[] = [];
  const seen = (worker: Worker): number => workers.push(worker);
  const open = async (query: string): Promise<Viewer> => {
    const options = { query, headers: platform.owner.headers, protocols: ['sandbox.v1'] };
    const client = await TerminalClient.open(platform.url, id, options);
    const controls = () => client.frames.filter((f) => !f.binary).map((f) => JSON.parse(f.data.toString()));
    const ready = () => controls().find(({ type }) => type === 'ready');
    await waitFor(() => ready() !== undefined);
    const output = () => client.frames.filter((f) => f.binary && f.data[0] !== 4);
    const bytes = () => Buffer.concat(client.frames.filter((f) => f.binary).map((f) => f.data.subarray(9)));
    return {
      client,
      ready,
      offset() {
        const last = output().at(-1);
        return last === undefined ? ready().offset : Number(last.data.readBigUInt64BE(1)) + last.data.length - 9;
      },
      text: () => bytes().toString(),
      state(cols = COLS, rows = ROWS) {
        expect(controls().filter(({ type }) => type === 'lagged')).toEqual([]);
        const viewer = createViewer(cols, rows);
        show(viewer, bytes());
        return stateOf(viewer);
      },
      type: (text) => client.type(Buffer.concat([Buffer.from([0]), Buffer.from(text)])),
    };
  };
  const end = (session: string) => platform.call('DELETE', `/api/sandboxes/${id}/terminals/${session}`);
  const run = (command: string) => platform.call('POST', `/api/sandboxes/${id}/exec`, { body: { command } });
  const frame = (bytes: number, word: string): string => `perl /tmp/frame ${bytes} ${word}\n`;

  beforeAll(async () => {
    process.on('worker', seen);
    platform = await startPlatform({ metrics: () => (metrics = createMetrics()) });
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'debian' } });
    id = created.body['id'];
    await run(`cat > /tmp/frame <<'END'\n${FRAME}\nEND`);
  });
  afterEach(async () => {
    const { body } = await platform.call('GET', `/api/sandboxes/${id}/terminals`);
    await Promise.all((body['terminals'] as { session: string }[]).map(({ session }) => end(session)));
  });
  afterAll(async () => {
    process.off('worker', seen);
    await platform.dispose();
  });

  it('shows a late client the same screen as an early one', async () => {
    const early = await open(`?session=frame&cols=${COLS}&rows=${ROWS}`);
    early.type("PS1='> '; echo before the frame\n");
    early.type(frame(2_500_000, 'e'));
    await waitFor(() => early.text().includes('over e'));
    const late = await open('?session=frame&mode=ro');
    await waitFor(() => late.offset() === early.offset());
    expect(late.ready()).toMatchObject({ screen: { exact: true, cols: COLS, rows: ROWS }, replayed: 0 });
    expect(late.state()).toEqual(early.state());
    // Both interpret further output in the same way: the shell, on the normal screen.
    early.type('\u0003');
    early.type("printf '\\033[?1049l\\033[r'; echo be''hind\n");
    await waitFor(() =>
      [early, late].every((each) => each.text().includes('behind\r\n') && each.offset() === early.offset()),
    );
    expect(late.state()).toEqual(early.state());
    await end('frame');
    await Promise.all([early.client.closed, late.client.closed]);
  });

  it('keeps the screen of a session without clients, at its original size and at a new one', async () => {
    const first = await open('?session=alone&cols=60&rows=20');
    first.type("echo be''gun; " + frame(6_000_000, 'alone'));
    await waitFor(() => first.text().includes('begun'));
    await first.client.close();
    await waitFor(async () => (await run('test -e /tmp/over-alone')).body['exit_code'] === 0);
    // Without a screen, it gets a torn part of the ring; the frame was drawn long before.
    const ring = await open('?session=alone&mode=ro&replay=output');
    await waitFor(() => ring.text().includes('over alone'));
    expect(ring.ready()).toMatchObject({ screen: null, replayed: 1024 * 1024 });
    expect(ring.text()).not.toContain('status:');
    const late = await open('?session=alone&mode=ro');
    expect(late.ready()).toMatchObject({ screen: { exact: true, cols: 60, rows: 20 } });
    const { alternate } = late.state(60, 20) as { alternate: string[] };
    const letters = alternate.map((row) => row.replaceAll(/1<[^>]*>/g, ''));
    // The status was below the last row and moved to it.
    expect(letters[19]).toContain('status: ready');
    expect(letters[9]).toMatch(/step \d{8} of the work/);
    expect(letters[10]).toContain('done');
    const resized = await open('?session=alone&cols=70&rows=22');
    expect(resized.ready()).toMatchObject({ screen: { exact: true, cols: 70, rows: 22 } });
    await end('alone');
    await Promise.all([ring, late, resized].map(({ client }) => client.closed));
  });

  it('resends exactly the bytes that the ring still has', async () => {
    const early = await open('?session=exact&cols=80&rows=24');
    early.type("PS1=; stty -echo; seq 300000 | head -c 1500000; echo en''d\n");
    await waitFor(() => early.text().includes('end\r\n'));
    const since = early.offset() - 700_000;
    const late = await open(`?session=exact&mode=ro&since=${since}`);
    await waitFor(() => late.offset() === early.offset());
    expect(late.ready()).toMatchObject({ offset: since, replayed: 700_000, screen: null });
    expect(early.text().endsWith(late.text())).toBe(true);
    expect(late.text().length).toBe(700_000);
    await end('exact');
    await Promise.all([early.client.closed, late.client.closed]);
  });

  it('keeps other screens working, whatever a program writes', async () => {
    const good = await open(`?session=good&cols=${COLS}&rows=${ROWS}`);
    good.type(frame(1_500_000, 'good'));
    await waitFor(() => good.text().includes('over good'));
    const hostile = await open('?session=hostile&cols=80&rows=24');
    const attacks = [
      String.raw`print "e", "\xcc\x81" x 1500000`,
      String.raw`print "\e]2;", "t" x 3000000, "\a"`,
      String.raw`print "\e]8;;http://x/$_\eb\e[2147483647b" for 1..30000`,
      String.raw`print "x\e[2147483647b\e[2147483647S\e[2147483647L" for 1..30000`,
      String.raw`print "\eP", "q" x 2000000`,
      String.raw`print "\e[", "1;" x 1000000, "m", "\e[1000;1000H\e[?1049h\e[1000;1000Hx\e[1J" x 20000`,
    ];
    for (const [index, attack] of attacks.entries()) {
      hostile.type(`perl -e '${attack.replaceAll("'", '')}'; printf '\\030\\033[m\\r\\nsur'vived-${index}'\\r\\n'\n`);
      await waitFor(() => hostile.text().includes(`survived-${index}`), { timeoutMs: 120_000 });
      hostile.client.forget();
    }
    hostile.type("seq 200000 | tail -c 1100000; echo la''st\n");
    await waitFor(() => hostile.text().includes('last'), { timeoutMs: 120_000 });
    const viewers = [await open('?session=hostile&mode=ro'), await open('?session=good&mode=ro')] as const;
    await waitFor(() => viewers[0].text().includes('last'), { timeoutMs: 120_000 });
    await waitFor(() => viewers[1].offset() === good.offset());
    expect(viewers[1].ready()).toMatchObject({ screen: { exact: true } });
    expect(viewers[1].state()).toEqual(good.state());
    await Promise.all(['hostile', 'good'].map(end));
    await Promise.all([...viewers, hostile, good].map(({ client }) => client.closed));
  }, 240_000);

  it('loses screens with their thread, reports it, and keeps them again', async () => {
    const early = await open(`?session=killed&cols=${COLS}&rows=${ROWS}`);
    early.type(frame(1_500_000, 'killed'));
    await waitFor(() => early.text().includes('over killed'));
    await (await open('?session=killed&mode=ro')).client.close();
    const failures = async (): Promise<string> =>
      /svc_sandbox_screen_failures_total\{reason="thread"\} (\d+)/.exec(await metrics.render())?.[1] ?? '0';
    const before = await failures();
    await workers.at(-1)?.terminate();
    await waitFor(async () => Number(await failures()) === Number(before) + 1);
    const late = await open('?session=killed&mode=ro');
    await waitFor(() => late.offset() === early.offset());
    // Only the ring is left: the last changed line is right, the frame is gone.
    expect(late.ready()).toMatchObject({ screen: { exact: false } });
    expect(late.text()).toContain('of the work');
    const fresh = await open(`?session=fresh&cols=${COLS}&rows=${ROWS}`);
    fresh.type(frame(1_500_000, 'fresh'));
    await waitFor(() => fresh.text().includes('over fresh'));
    const viewer = await open('?session=fresh&mode=ro');
    await waitFor(() => viewer.offset() === fresh.offset());
    expect(viewer.state()).toEqual(fresh.state());
    await Promise.all(['killed', 'fresh'].map(end));
    await Promise.all([early, late, fresh, viewer].map(({ client }) => client.closed));
  });

  it('shows the last lines after a platform restart, and ends its thread with the last session', async () => {
    const early = await open(`?session=again&cols=${COLS}&rows=${ROWS}`);
    early.type("PS1=; stty -echo; seq -f 'line %.0f' 150000; echo en''d\n");
    await waitFor(() => early.text().includes('end\r\n'));
    await platform.close();
    await early.client.closed;
    await platform.reopen();
    const late = await open('?session=again&mode=ro');
    expect(late.ready()).toMatchObject({ screen: { exact: false } });
    expect(late.state()).toEqual(early.state());
    const worker = workers.at(-1);
    await end('again');
    await late.client.closed;
    await waitFor(() => worker?.threadId === -1);
  });
});
