"""Words of gdb, pdb, pudb and tfdbg that are no commands here, each with what to type instead."""
INSTEAD = {
    "EOF": "quit leaves, detach lets the script finish",
    "attach": "DebugSession(session) in the program opens the prompt there",
    "call": "python CODE, or ! CODE, runs Python in the script", "cd": "python import os; os.chdir(FOLDER)",
    "clear": "delete NUMBER takes a breakpoint away; info breaks lists them",
    "d": "delete NUMBER takes a breakpoint away, down goes a frame down",
    "invoke_stepper": "step goes through a run op by op", "kill": "quit ends the script, detach lets it finish",
    "prev": "back goes a step back; in the full screen F9 and F10 turn the pages", "psource": "list NAME",
    "pwd": "python import os; print(os.getcwd())", "return": "finish goes on until the function has returned",
    "shell": "! CODE runs Python; COMMAND | PROGRAM gives an answer to a program", "show": "set lists the settings",
    "u": "up goes a frame up, until [LINE] runs on", "unalias": "alias NAME = takes it away",
    "wf": "print NAME --write FILE writes a value",
    **dict.fromkeys(("awatch", "rwatch"), "watch TARGET follows a value, info outputs OP lists who takes it"),
    **dict.fromkeys(("cfg", "config"), "set lists the settings, set OPTION VALUE changes one"),
    **dict.fromkeys(("echo", "printf"), "python print(TEXT)"),
    **dict.fromkeys(("focus", "refresh", "tui"), "layout NAME opens panes, F6 goes round them"),
    **dict.fromkeys(("inject", "inject_value", "override", "override_value"),
                    "set NAME = EXPR gives a tensor another value in the runs to come"),
    **dict.fromkeys(("inspect", "pdoc", "pinfo", "ptype", "whatis"), "info op NAME, info locals"),
    **dict.fromkeys(("j", "jump"), "goto OP and goto step N travel; a line of the script cannot be jumped to"),
    **dict.fromkeys(("lp", "list_profile"), "list plan shows the steps of a run; time of each: python with cProfile"),
    **dict.fromkeys(("retval", "rv"), "finish, then print what the caller has assigned"),
    **dict.fromkeys(("ver", "version"), "gradbg --version; python tf.__version__"),
}  # word -> what does it here

TOPICS = {"args": "locals", "breakpoints": "breaks", "frame": "locals", "line": "script", "program": "script",
          "source": "script", "sources": "files", "variables": "vars",
          "watchpoints": "watches"}  # gdb's word after info -> ours
