import { useEffect, useRef } from 'react';
import { showCode, type CodeViewOptions } from './code-view.ts';
import styles from './editor.module.css';

export interface CodeEditorProps extends CodeViewOptions {
  /** False if something else on the page should have the focus. */
  focused?: boolean;
}

/** An editor with an initial text. To show another text, change the component’s key. */
export function CodeEditor({ focused = true, ...options }: CodeEditorProps) {
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
    if (focused) view.focus();
    return () => view.destroy();
  }, [focused]);
  return <div ref={place} className={styles['code']} />;
}
