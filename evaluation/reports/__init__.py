"""In which formats do scores leave the house, from the command and from the server alike?"""
