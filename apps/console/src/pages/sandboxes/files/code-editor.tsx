import { useEffect, useRef } from 'react';
import { showCode, type CodeViewOptions } from './code-view.ts';
import styles from './files.module.css';

/** The text is that of the first look; whoever has another one gives the component another key. */
export function CodeEditor(options: CodeViewOptions) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    if (place.current === null) return;
    const view = showCode(place.current, {
      ...latest.current,
      onChange: (text) => latest.current.onChange(text),
      onSave: () => latest.current.onSave(),
    });
    view.focus();
    return () => view.destroy();
  }, []);
  return <div ref={place} className={styles['code']} />;
}
