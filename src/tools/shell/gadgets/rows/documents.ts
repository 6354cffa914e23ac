/** Gadgets of typesetting, pictures, sound, printing and mail. */
import { edits, type Gadget, leaves, loads, runs, starts } from "./gadget.ts";

const TEX =
  "tex latex pdftex pdflatex xetex xelatex luatex lualatex etex eptex uptex platex uplatex luahbtex lualatex-dev texexec";

/** Typesetting, media, mail. */
export const DOCUMENTS: readonly Gadget[] = [
  starts(TEX, "tex(1)", { options: "-shell-escape -enable-write18 -shell-restricted -cnf-line -mktex -progname -fmt" }),
  runs(TEX, "luatex(1)", {
    options: "-lua -luaonly -luaconly -socket",
    words: /\\write18|\\directlua|\\ShellEscape|\\openin\s*\|/,
    by: "\\write18",
  }),
  runs("context mtxrun texlua texluac mtx-context latexrun arara rubber tlmgr fmtutil", "context(1), arara(1)", {
    always: true,
  }),
  starts("latexmk", "latexmk(1)", {
    options: "-pvc -use-make -print",
    words:
      /^-{1,2}(?:e|r|p|pv)$|^-{1,2}(?:pdf|lua|xe|ht|dvi)?(?:latex|lualatex|xelatex)=|^-{1,2}(?:bibtex|makeindex|biber|dvips|ps2pdf)\S*=/,
    by: "-pdflatex=",
  }),
  starts("latexmk", "latexmk(1)", { options: "-shell-escape --shell-escape" }),
  starts("dvips dvipdfm dvipdfmx xdvipdfmx", "dvips(1)", { words: /^-R0|^-D$/, by: "-R0" }),
  starts("groff troff nroff pic eqn tbl grap geqn gpic", "groff(1): unsafe mode", { options: "-U" }),
  starts("man apropos whatis", "man(1)", { options: "-P --pager -H --html -C --config-file -p --preprocessor" }),
  edits("info", "info(1)", { options: "--restore -v --variable --init-file" }),
  starts("perldoc", "perldoc(1)", { options: "-n -M -w" }),
  starts("gs ghostscript ps2pdf ps2ps eps2eps pdf2ps", "gs(1)", {
    words: /%pipe%|^-sOutputFile=\||^-d(?:NOSAFER|DELAYSAFER)|^-o\s*\|/,
    by: "%pipe% or -dNOSAFER",
  }),
  runs("gs ghostscript", "gs(1)", { options: "-c", input: true }),
  starts("enscript a2ps", "enscript(1), a2ps(1)", { options: "-I --filter -P --printer -d -p" }),
  leaves("lp lpr cancel lpadmin lpoptions cupsctl cupsfilter", "lp(1)", { always: true, unless: "-p" }),
  starts("pandoc", "pandoc(1)", {
    options: "-F --filter --pdf-engine -L --lua-filter -d --defaults --pdf-engine-opt",
    words: /\.lua$/,
    verbs: "lua, server",
    by: "a filter",
  }),
  loads("asciidoctor asciidoc a2x", "asciidoctor(1)", {
    options: "-r --require -T --template-dir -I -E -f --conf-file --filter --xsltproc-opts",
  }),
  loads("xsltproc saxon", "xsltproc(1)", { options: "--load-trace --path -ext" }),
  loads("highlight pygmentize", "highlight(1), pygmentize(1)", {
    options: "-x --plug-in --config-file --user-scripts",
  }),
  runs("gnuplot", "gnuplot(1)", { options: "-e -c", input: true, operands: "-e", by: "a script" }),
  loads("dot neato", "dot(1)", { options: "-c -P", words: /^-l/, by: "-l" }),
  starts(
    "convert magick mogrify identify composite montage compare conjure stream animate display import gm",
    "ImageMagick(1)",
    {
      words: /^\||^(?:msl|ephemeral|print|show|x|scan|win|mvg|https?|ftp|video|mpeg|plugin|caption:@|label:@)\W/i,
      options: "-script -delegate",
      verbs: "-script, batch, conjure",
      by: "a coder such as msl:",
    },
  ),
  loads("ffmpeg ffplay ffprobe avconv", "ffmpeg-filters(1)", {
    words: /(?:ladspa|frei0r|lv2|openclsrc|dnn_\w+|sofalizer|subtitles)=/,
    options: "-filter_script -filter_complex_script -init_hw_device -fpre -vpre -apre -attach",
    by: "a filter such as ladspa",
  }),
  starts("sox play rec soxi", "sox(1)", { words: /^\||^ladspa$/, by: "|program" }),
  loads("mpv mplayer", "mpv(1)", {
    options:
      "--script --scripts --input-conf --input-ipc-server --input-file --config-dir --include --load-scripts --lua -input -include --use-filedir-conf",
    words: /ladspa/,
    by: "a script",
  }),
  loads("vlc cvlc", "vlc(1)", {
    options: "-I --intf --extraintf --lua-intf --plugin-path --lua-config --config --control",
  }),
  runs("gimp", "gimp(1)", { options: "-b --batch --batch-interpreter -g --gimprc" }),
  runs("blender freecad inkscape libreoffice soffice openscad kicad-cli qgis", "blender(1), soffice(1)", {
    options: "-P --python --python-expr --python-text --actions --shell -c --console --macro -x --batch",
    words: /^macro:|^vnd\.sun/,
    input: true,
    by: "a macro",
  }),
  runs("exiftool", "exiftool(1)", {
    words: /^-{1,2}(?:if\d*|config|api|userparam|execute|stay_open|efile)$|\$\{[^}]*;/i,
    options: "-if -config -@",
    by: "-if",
  }),
  starts("feh sxiv nsxiv geeqie", "feh(1)", { options: "-A --action --action1 --info --onclick" }),
  starts("scrot maim", "scrot(1)", { options: "-e --exec" }),
  edits("zathura evince okular xpdf mupdf", "zathura(1)", { always: true }),
  edits("aspell ispell hunspell", "aspell(1)", { always: true, unless: "-a, list, dump, pipe, -l, check --mode" }),
  leaves("mail mailx Mail s-nail nail heirloom-mailx mutt neomutt alpine pine mh nmh", "mail(1)", { always: true }),
  starts("mail mailx s-nail", "mail(1): GNU `--exec`", { options: "--exec -E -e -S -:" }),
  starts("mutt neomutt", "mutt(1)", { options: "-e -F -H" }),
  leaves("sendmail exim exim4 postfix msmtp ssmtp swaks nullmailer-inject mailq", "sendmail(8)", { always: true }),
  starts("procmail maildrop fetchmail getmail mbsync offlineimap formail reformail", "procmail(1), formail(1)", {
    always: true,
  }),
  starts(
    "run-mailcap see compose edit print xdg-open xdg-email open gio gnome-open kde-open exo-open sensible-browser sensible-pager sensible-editor x-www-browser www-browser",
    "run-mailcap(1), xdg-open(1)",
    { always: true },
  ),
  runs("xdg-user-dir", "xdg-user-dir(1)", { words: /[^A-Z]/, by: "what is no name" }),
  runs("cowsay cowthink", "cowsay(1): cow files are Perl", { options: "-f" }),
  starts("lesspipe lesspipe.sh lessopen batpipe lessfile", "lesspipe(1)", { always: true }),
];
