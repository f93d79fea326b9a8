import { isAppError } from '@svc/errors';
import { describe, expect, it } from 'vitest';
import { expandVariables, neededStages } from './build-plan.ts';
import { parseDockerfile } from './dockerfile.ts';

const parse = (text: string, args: Record<string, string> = {}, target: string | null = null) =>
  parseDockerfile(text, { args, target });

function refusal(text: string): { line: unknown; reason: unknown } {
  try {
    parse(text);
  } catch (error) {
    if (!isAppError(error)) throw error;
    expect(error.code).toBe('DOCKERFILE_REFUSED');
    return { line: error.details?.['line'], reason: error.details?.['reason'] };
  }
  throw new Error('it was accepted');
}

/** Each variable is twice as long as the one before it. */
function doublings(count: number, instruction = 'ENV'): string {
  return Array.from({ length: count }, (_, at) => `${instruction} A${at + 1}=$A${at}$A${at}`).join('\n');
}

function repeat(name: string, rest: string, count: number): string {
  return Array.from({ length: count }, (_, at) => `${name}${at}${rest}`).join('');
}

describe('parseDockerfile', () => {
  it('reads stages, steps, the start command and the ready check', () => {
    const { stages, startCommand, readyCommand } = parse(`
# syntax=docker/dockerfile:1
ARG BASE=debian
FROM \${BASE}:12 AS build
ARG VERSION=1
ENV A=1 B="two words" C=\\$HOME
WORKDIR /src
COPY --chown=app:app --chmod=755 src/*.c "with space" ./
RUN cc -o app \\
    # a comment between
    main.c && \\
    strip app
FROM busybox
COPY --from=build /src/app /usr/bin/app
USER 1000
EXPOSE 80/tcp 443
ENTRYPOINT ["/usr/bin/app", "--serve"]
CMD ["--port", "80"]
HEALTHCHECK --interval=5s CMD wget -q localhost
`);
    expect(stages.map(({ name, from, line }) => ({ name, from, line }))).toEqual([
      { name: 'build', from: 'debian:12', line: 4 },
      { name: null, from: 'busybox', line: 13 },
    ]);
    expect(stages[0]?.steps).toMatchObject([
      { kind: 'arg', name: 'VERSION', value: '1', line: 5 },
      {
        kind: 'env',
        variables: [
          ['A', '1'],
          ['B', 'two words'],
          ['C', '\\$HOME'],
        ],
      },
      { kind: 'workdir', path: '/src' },
      {
        kind: 'copy',
        sources: ['src/*.c', 'with space'],
        destination: './',
        owner: 'app:app',
        mode: '755',
        from: null,
      },
      { kind: 'run', argv: ['/bin/sh', '-c', 'cc -o app     main.c &&     strip app'], line: 9 },
    ]);
    expect(stages[1]?.steps).toMatchObject([
      { kind: 'copy', from: 0, sources: ['/src/app'] },
      { kind: 'user', name: '1000' },
      { kind: 'expose', ports: ['80/tcp', '443'] },
    ]);
    expect(startCommand).toEqual(['/usr/bin/app', '--serve', '--port', '80']);
    expect(readyCommand).toBe('wget -q localhost');
  });

  it('takes values of arguments from the caller, and stops at the target', () => {
    const text = 'ARG V=1\nFROM debian AS one\nARG V\nARG W=x\nCOPY $V/${W} /\nFROM one AS two\nRUN true\n';
    const { stages } = parse(text, { V: '2' }, 'one');
    expect(stages).toHaveLength(1);
    expect(stages[0]?.steps[2]).toMatchObject({ sources: ['2/x'] });
    expect(parse(text).stages[1]?.from).toBe(0);
  });

  it.each([
    ['FROM debian\nADD https://example.com/x /x', 2, 'ADD is not supported'],
    ['FROM debian\n\nVOLUME /data', 3, 'VOLUME is not supported'],
    ['FROM debian\nRUN --mount=type=cache,target=/x make', 2, 'RUN --mount is not supported'],
    ['FROM --platform=linux/arm64 debian', 1, 'FROM --platform is not supported'],
    ['FROM debian\nRUN <<EOF\nmake\nEOF', 2, 'here-document'],
    ['FROM debian\nCOPY ../secret /', 2, 'outside of the context'],
    ['FROM debian\nCOPY $WHAT /', 2, '$WHAT'],
    ['FROM debian\nCOPY --from=3 /x /', 2, 'no stage 3'],
    ['FROM debian\nCOPY only', 2, 'sources and a destination'],
    ['FROM debian\nENV "A=1', 2, 'is not closed'],
    ['FROM debian\nFLY away', 2, 'FLY is no instruction'],
    ['RUN true', 1, 'before the first FROM'],
    ['# nothing', 1, 'no FROM'],
    ['FROM $X', 1, 'is empty'],
    ['FROM debian\nWORKDIR', 2, 'takes one value'],
    ['# escape=`\nFROM debian', 1, 'escape'],
    ['FROM debian\nHEALTHCHECK true', 2, 'HEALTHCHECK takes'],
    [`FROM debian\nENV A0=xxxxxxxx\n${doublings(22)}`, 16, 'more than 65536 characters'],
    [`ARG A0=xxxxxxxx\n${doublings(22, 'ARG')}\nFROM $A22`, 15, 'more than 65536 characters'],
    [`FROM debian\nENV A0=xxxxxxxx\n${doublings(12)}\nENV ${repeat('B', '=$A12 ', 20)}`, 15, 'more than 262144'],
    [`FROM debian\nCOPY ${'a '.repeat(2000)}/`, 2, 'at most 1000 sources'],
  ])('refuses %j at line %i', (text, line, reason) => {
    const refused = refusal(text);
    expect(refused).toMatchObject({ line });
    expect(refused.reason).toContain(reason);
  });
});

describe('a variable', () => {
  it('has the values of before its instruction', () => {
    const { stages } = parse('FROM a\nENV X=1\nENV X=2 Y=$X\nCOPY $Y /');
    expect(stages[0]?.steps.at(-1)).toMatchObject({ sources: ['1'] });
  });

  it('is read in a moment after any number of blanks', () => {
    const blanks = ' '.repeat(200_000);
    const { stages } = parse(`FROM a\nENV C${blanks}3`);
    expect(stages[0]?.steps.at(-1)).toMatchObject({ variables: [['C', '3']] });
    expect(refusal(`FROM a\nENV A${blanks}=x`).reason).toContain('not of the form NAME=value');
  });
});

describe('neededStages', () => {
  it('leaves out what the last stage does not need', () => {
    const { stages } = parse(
      'FROM a AS one\nFROM b AS two\nFROM c AS three\nCOPY --from=one /x /\nFROM three\nRUN true',
    );
    expect(neededStages({ stages })).toEqual(new Set([3, 2, 0]));
  });
});

describe('expandVariables', () => {
  const lookup = (name: string): string | undefined => ({ A: 'a', EMPTY: '' })[name];
  it.each([
    ['$A/${A}', 'a/a'],
    ['$NONE', ''],
    ['${NONE:-x} ${EMPTY:-x} ${EMPTY-x} ${A:-x}', 'x x  a'],
    ['${A:+y}${NONE:+y}', 'y'],
    ['\\$A', '$A'],
    ['100$', '100$'],
  ])('replaces %j by %j', (text, expected) => expect(expandVariables(text, lookup, Error)).toBe(expected));
});
