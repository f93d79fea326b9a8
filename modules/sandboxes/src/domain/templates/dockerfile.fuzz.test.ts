import { isAppError } from '@svc/errors';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { MAX_STAGES, MAX_STEPS } from './build-plan.ts';
import { BuildFault } from './build-sandbox.ts';
import { parseDockerfile } from './dockerfile.ts';
import { parseWildcard } from './wildcard.ts';

/** Far above what limits allow, far below what an expansion without limits reaches. */
const MOST_CHARACTERS = 4_000_000;

describeFuzz({
  name: 'Dockerfiles',
  corpus: new URL('./corpus/dockerfile/', import.meta.url),
  seeds: [
    'ARG A=b\nFROM $A AS one\nENV X=1 Y="two words"\nRUN --x true && \\\n  false\nCOPY --from=one --chown=a:b *.c /x/\n',
    'FROM a\nENV A 1\nENV B=$A$A C=${B:-x}${A:+y}\nCOPY [a-z]/$B /\nEXPOSE 80/tcp\nCMD ["a"]\nHEALTHCHECK CMD b\n',
  ],
  dictionary: [
    'FROM ',
    'ARG ',
    'ENV A=$A$A\n',
    'COPY --from=0 ',
    'RUN ',
    'USER ',
    'WORKDIR ',
    'ENTRYPOINT ["',
    '\\\n',
    '${A:-',
    '$A',
    '"',
    "'",
    '# escape=`\n',
    '<<EOF',
    '\uFEFF',
    '\0',
  ],
  run: (input) => {
    try {
      const { stages } = parseDockerfile(input.toString('utf8'), { args: { GIVEN: 'value' }, target: null });
      expect(stages.length).toBeLessThanOrEqual(MAX_STAGES);
      expect(stages.flatMap(({ steps }) => steps).length).toBeLessThanOrEqual(MAX_STEPS);
      expect(JSON.stringify(stages).length).toBeLessThan(MOST_CHARACTERS);
    } catch (error) {
      if (!isAppError(error) || error.code !== 'DOCKERFILE_REFUSED') throw error;
    }
  },
});

describeFuzz({
  name: 'wildcards of COPY',
  corpus: new URL('./corpus/wildcard/', import.meta.url),
  seeds: ['*.c\nmain.c', '[a-z]?[^x]\nabc', '\\*\n*', '*a*a*a*b\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  dictionary: ['*', '?', '[', ']', '[^', '-', '\\', '*a*a', '🙂', '\n'],
  run: (input) => {
    const [pattern = '', name = ''] = input.toString('utf8').split('\n');
    try {
      const isMatch = parseWildcard(pattern);
      // A backslash at the end would escape the star after it.
      if (isMatch(name) && !pattern.endsWith('\\'))
        expect(parseWildcard(`*${pattern}*`)(`x${name}y`), 'inside of more').toBe(true);
    } catch (error) {
      if (!(error instanceof BuildFault)) throw error;
    }
  },
});
